package proc

import (
	"fmt"
	"os/exec"
	"runtime"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Spawner starts children from one thread. Make it with NewSpawner and Close it
// when the last child has ended: a parent-death signal fires when its thread goes.
type Spawner struct {
	work   chan func()
	family *family
}

// NewSpawner starts the thread. Its signal mask is emptied, because a mask that
// the launcher inherited would otherwise be passed on to every worker
// (rust-lang/rust#101077).
func NewSpawner() (*Spawner, error) {
	s := &Spawner{work: make(chan func()), family: newFamily()}
	ready := make(chan error)
	go s.loop(ready)
	if err := <-ready; err != nil {
		return nil, fmt.Errorf("cannot prepare the thread that starts workers: %w", err)
	}
	return s, nil
}

// loop never unlocks its thread: when it returns, the runtime ends the thread and
// with it whatever was set on it.
func (s *Spawner) loop(ready chan<- error) {
	runtime.LockOSThread()
	err := unix.PthreadSigmask(unix.SIG_SETMASK, &unix.Sigset_t{}, nil)
	ready <- err
	if err != nil {
		return
	}
	for f := range s.work {
		f()
	}
}

// Close ends the thread. Children that live on get their parent-death signal.
func (s *Spawner) Close() {
	close(s.work)
	s.family.finish.close()
}

// Do runs f on the Spawner's thread and waits for it.
func (s *Spawner) Do(f func()) {
	done := make(chan struct{})
	s.work <- func() { defer close(done); f() }
	<-done
}

// Start starts cmd in a process group of its own and returns the child. The
// caller sets path, arguments, environment, directory and files; files must be
// *os.File (or nil), so that no copying goroutine holds up Wait.
func (s *Spawner) Start(cmd *exec.Cmd) (*Child, error) {
	var child *Child
	var err error
	s.Do(func() { child, err = s.start(cmd) })
	return child, err
}

// start runs on the Spawner's thread.
func (s *Spawner) start(cmd *exec.Cmd) (*Child, error) {
	attr := cmd.SysProcAttr
	if attr == nil {
		attr = &syscall.SysProcAttr{}
	}
	attr.Setpgid = !attr.Setsid // a new session is a new group, too
	attr.Pdeathsig = syscall.SIGKILL
	cmd.SysProcAttr = attr
	return s.launch(cmd)
}

// launch starts cmd and registers the child, on the Spawner's thread.
func (s *Spawner) launch(cmd *exec.Cmd) (*Child, error) {
	pidfd := -1
	cmd.SysProcAttr.PidFD = &pidfd
	// Without copying goroutines WaitDelay never runs; it stays set so that a
	// future io.Writer here cannot make Wait hang on a grandchild (golang/go#23019).
	cmd.WaitDelay = time.Second
	busy := writers{path: cmd.Path}
	defer busy.close()
	if err := startRetrying(cmd, busy.pause); err != nil {
		return nil, err
	}
	return newChild(cmd, pidfd, s.family), nil
}
