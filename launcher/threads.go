package launcher

import (
	"runtime"
	"sync"
)

// Threads of the launcher. More processors than mostProcessors do not make it faster,
// and each may cost a thread on a large machine.
const (
	mostProcessors = 4
	spareThreads   = mostProcessors + 4 // for system calls that block
)

// settleThreads makes the runtime start the threads now that it may need later, and
// keep them. Where the ranks use up the processes that the user or the container may
// have (ulimit -u, pids.max), a runtime that needs one more thread ends the whole
// program, in the middle of stopping what was started. The result undoes what can be
// undone.
func settleThreads() (restore func()) {
	before := runtime.GOMAXPROCS(0)
	runtime.GOMAXPROCS(min(before, mostProcessors))
	var there, gone sync.WaitGroup
	leave := make(chan struct{})
	there.Add(spareThreads)
	for range spareThreads {
		gone.Go(func() {
			// A goroutine that is locked to its thread and waits makes the runtime start
			// another thread for the next one.
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			there.Done()
			<-leave
		})
	}
	there.Wait()
	close(leave)
	gone.Wait()
	return func() { runtime.GOMAXPROCS(before) }
}
