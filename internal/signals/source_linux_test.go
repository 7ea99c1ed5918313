//go:build amd64 || arm64

package signals

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"
)

func TestSenderIsNamed(t *testing.T) {
	s, _ := take(t, syscall.SIGUSR1)
	pid, end := shell(t, syscall.SIGUSR1)
	defer end()
	want := Signal{syscall.SIGUSR1, Sender{Pid: pid, UID: os.Getuid(), Command: "sh"}}
	if diff := cmp.Diff(want, next(t, s)); diff != "" {
		t.Error(diff)
	}
}

func TestSenderThatIsGone(t *testing.T) {
	s, _ := take(t, syscall.SIGUSR1)
	pid, end := shell(t, syscall.SIGUSR1)
	end()
	want := Signal{syscall.SIGUSR1, Sender{Pid: pid, UID: os.Getuid()}}
	if diff := cmp.Diff(want, next(t, s)); diff != "" {
		t.Error(diff)
	}
}

// A program that signals one of our threads (Go's runtime, a debugger) is a sender, too.
func TestSenderToAThread(t *testing.T) {
	s, _ := take(t, syscall.SIGUSR1)
	if err := unix.Tgkill(os.Getpid(), os.Getpid(), unix.SIGUSR1); err != nil {
		t.Fatal(err)
	}
	if got := next(t, s); got.Number != syscall.SIGUSR1 || got.Sender.Pid != os.Getpid() {
		t.Errorf("%+v", got)
	}
}

// A key at a terminal is the kernel's doing, as is a timer.
func TestKernelSends(t *testing.T) {
	s, _ := take(t, syscall.SIGALRM)
	if _, err := unix.Setitimer(unix.ITIMER_REAL, unix.Itimerval{Value: unix.Timeval{Usec: 1}}); err != nil {
		t.Fatal(err)
	}
	want := Signal{syscall.SIGALRM, Sender{Kernel: true}}
	if diff := cmp.Diff(want, next(t, s)); diff != "" {
		t.Error(diff)
	}
}

// Read in the order of their numbers, as os/signal may do, a job that was continued is
// stopped afterwards. (The kernel itself drops a stop that a continue follows, and the
// other way round, as long as nobody has seen it.)
func TestOrderOfArrival(t *testing.T) {
	s, _ := take(t, syscall.SIGTSTP, syscall.SIGCONT)
	for _, pair := range [][]syscall.Signal{{syscall.SIGTSTP, syscall.SIGCONT}, {syscall.SIGCONT, syscall.SIGTSTP}} {
		_, end := shell(t, pair...)
		got := next(t, s).Number
		if got == pair[0] {
			got = next(t, s).Number
		}
		if got != pair[1] {
			t.Errorf("%v arrived as the last of %v", got, pair)
		}
		end()
	}
}

// The handler runs on whatever thread there is, in the middle of anything.
func TestStorm(t *testing.T) {
	for name, test := range map[string]struct {
		times   int
		disturb func()
	}{
		"memory is collected": {1000, func() { runtime.KeepAlive(make([]byte, 1<<12)) }},
		"threads end": {50, func() {
			ended := make(chan struct{})
			go func() {
				defer close(ended)
				runtime.LockOSThread() // and not unlocked: it ends with the goroutine
			}()
			<-ended
		}},
	} {
		t.Run(name, func(t *testing.T) {
			s, _ := take(t, syscall.SIGUSR1, syscall.SIGUSR2)
			var done atomic.Bool
			defer done.Store(true)
			for range runtime.GOMAXPROCS(0) {
				go func() {
					for !done.Load() {
						test.disturb()
					}
				}()
			}
			for range test.times {
				for _, sig := range []syscall.Signal{syscall.SIGUSR1, syscall.SIGUSR2} {
					kill(t, sig)
					if got := next(t, s); got.Number != sig || got.Sender.Pid != os.Getpid() {
						t.Fatalf("%+v", got)
					}
				}
			}
		})
	}
}

// A pipe that nobody reads takes no more: then signals come without their sender, and are
// not lost. One that is read again takes them as before.
func TestFullPipe(t *testing.T) {
	s, c := take(t, syscall.SIGUSR1)
	for began := time.Now(); len(c) == 0; { // the runtime hears of none that the pipe takes
		kill(t, syscall.SIGUSR1)
		if time.Since(began) > patience {
			t.Fatal("the pipe is never full")
		}
	}
	size := inPipe(t, s)
	if size == 0 || size%infoSize != 0 {
		t.Errorf("%d bytes in the pipe", size)
	}
	for range size / infoSize {
		if got := next(t, s); got.Number != syscall.SIGUSR1 || got.Sender.Pid != os.Getpid() {
			t.Fatalf("%+v", got)
		}
	}
	kill(t, syscall.SIGUSR1)
	next(t, s)
}

// inPipe is how many bytes wait in the pipe.
func inPipe(t *testing.T, s *Source) (size int) {
	t.Helper()
	raw, err := s.read.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	var asked error
	if err := raw.Control(func(fd uintptr) { size, asked = unix.IoctlGetInt(int(fd), unix.TIOCINQ) }); err != nil || asked != nil {
		t.Fatal(err, asked)
	}
	return size
}

// Whatever is wrong with the pipe, no signal is lost.
func TestBrokenPipe(t *testing.T) {
	s, c := take(t, syscall.SIGUSR1)
	s.read.Close()
	kill(t, syscall.SIGUSR1)
	if got := heard(t, c); got != syscall.SIGUSR1 {
		t.Error(got)
	}
}

func TestCloseGivesThemBack(t *testing.T) {
	s, c := take(t, syscall.SIGUSR1, syscall.SIGUSR1)
	if other, err := Take(syscall.SIGUSR2); err == nil {
		other.Close()
		t.Error("two take signals at once")
	}
	waiting := make(chan error)
	go func() {
		_, err := s.Next()
		waiting <- err
	}()
	s.Close()
	s.Close()
	if err := <-waiting; !errors.Is(err, os.ErrClosed) {
		t.Errorf("Next returned %v", err)
	}
	kill(t, syscall.SIGUSR1)
	if got := heard(t, c); got != syscall.SIGUSR1 {
		t.Error(got)
	}
	again, _ := take(t, syscall.SIGUSR1)
	again.Close()
}

func TestNoLeak(t *testing.T) {
	count := func() int {
		list, err := filepath.Glob("/proc/self/fd/*")
		if err != nil {
			t.Fatal(err)
		}
		return len(list)
	}
	before := count()
	const times = 3
	for range times {
		s, _ := take(t, syscall.SIGUSR1)
		s.Close()
	}
	// One end of each stays open on purpose: see Close.
	if after := count(); after > before+times {
		t.Errorf("%d descriptors, %d before", after, before)
	}
}
