package proc

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// ErrReaped says that a child's status has been collected: its pid may belong to
// somebody else by now, so nothing is signalled.
var ErrReaped = errors.New("the process has ended and was reaped")

// Child is one started process, leader of its own process group.
type Child struct {
	ID
	cmd    *exec.Cmd
	family *family  // where it is registered until it is reaped
	pidfd  *os.File // nil on a kernel without pidfds
	pidno  int      // the descriptor's number, -1: none
	ended  atomic.Bool
	at     time.Time // when it was seen to have ended

	mu     sync.Mutex // orders SignalGroup against Reap: the group is signalled only while the leader pins its number
	reaped bool
}

// newChild takes over a started command and its pidfd (-1: none).
func newChild(cmd *exec.Cmd, pidfd int, f *family) *Child {
	c := &Child{cmd: cmd, family: f, pidno: -1, ID: ID{Pid: cmd.Process.Pid}}
	f.add(c.Pid)
	// The child is not reaped before Reap, so its start time is readable even if
	// it ended already.
	if st, err := ReadStat(c.Pid); err == nil {
		c.Start = st.Start
	}
	if pidfd >= 0 {
		// Only a non-blocking descriptor is given to the runtime poller.
		if err := unix.SetNonblock(pidfd, true); err == nil {
			f.finish.enter(pidfd)
			c.pidfd, c.pidno = os.NewFile(uintptr(pidfd), "pidfd"), pidfd
		} else {
			unix.Close(pidfd)
		}
	}
	return c
}

// Wait returns how the child ended, once it has, and leaves it a zombie. Call it
// from one goroutine only. It holds no thread where the kernel has pidfds.
func (c *Child) Wait() (Exit, error) {
	if err := c.waitReadable(); err != nil {
		return Exit{}, fmt.Errorf("cannot wait for %v: %w", c.ID, err)
	}
	c.at = c.family.finish.time(c.pidno)
	// WNOWAIT leaves the zombie: its pid stays ours until Reap.
	exit, err := peek(c.Pid)
	if c.pidno < 0 {
		c.at = time.Now() // there was nothing to wait for before
	}
	c.ended.Store(true)
	return exit, err
}

// At is when the child was seen to have ended, for the goroutine in which Wait has
// returned. Of two children the one that ended first has the earlier time, also if
// both were seen late.
func (c *Child) At() time.Time { return c.at }

// Ended reports whether Wait has returned.
func (c *Child) Ended() bool { return c.ended.Load() }

// waitReadable parks the goroutine in the runtime poller until the pidfd says
// that the process has ended.
func (c *Child) waitReadable() error {
	if c.pidfd == nil {
		return nil
	}
	raw, err := c.pidfd.SyscallConn()
	if err != nil {
		return err
	}
	return raw.Read(readable)
}

// readable reports whether a pidfd says that its process has ended.
func readable(fd uintptr) bool {
	set := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
	n, err := unix.Poll(set, 0)
	// An error other than EINTR is left to the caller's next step to explain.
	return n > 0 || (err != nil && !errors.Is(err, unix.EINTR))
}

// siginfo is the kernel's siginfo_t for SIGCHLD on 64-bit Linux: x/sys has no
// fields for it.
type siginfo struct {
	signo, errno, code, _ int32
	pid                   int32
	uid                   uint32
	status                int32
	_                     [100]byte
}

// si_code values of SIGCHLD (asm-generic/siginfo.h).
const (
	cldExited = 1
	cldKilled = 2
	cldDumped = 3
)

// peek blocks until the process has ended and reads its status without reaping.
func peek(pid int) (Exit, error) {
	var info siginfo
	for {
		err := unix.Waitid(unix.P_PID, pid, (*unix.Siginfo)(unsafe.Pointer(&info)), unix.WEXITED|unix.WNOWAIT, nil)
		if err == nil {
			break
		}
		if !errors.Is(err, unix.EINTR) {
			return Exit{}, fmt.Errorf("cannot read the status of pid %d: %w", pid, err)
		}
	}
	switch info.code {
	case cldExited:
		return Exit{Code: int(info.status)}, nil
	case cldKilled, cldDumped:
		return Exit{Signal: syscall.Signal(info.status), Core: info.code == cldDumped}, nil
	default:
		return Exit{}, fmt.Errorf("cannot read the status of pid %d: unexpected code %d", pid, info.code)
	}
}

// Reap collects the status. Call it after Wait has returned, from any goroutine;
// from then on nothing can be signalled through this Child.
func (c *Child) Reap() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.reaped {
		return
	}
	c.reaped = true
	// Should it still run, nobody else is held up until it ends.
	_, _ = peek(c.Pid)
	// The status is known from Wait; an exit code other than 0 is no error here.
	c.family.reap(c.Pid, func() { _ = c.cmd.Wait() })
	if c.pidfd != nil {
		c.pidfd.Close()
	}
}

// Signal sends sig to the child itself. A child that has ended but was not reaped
// takes it without effect; after Reap the error is ErrReaped.
func (c *Child) Signal(sig syscall.Signal) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.reaped {
		return ErrReaped
	}
	return c.cmd.Process.Signal(sig)
}

// SignalGroup sends sig to every process of the child's process group, also when
// the child itself is a zombie already. After Reap the error is ErrReaped.
func (c *Child) SignalGroup(sig syscall.Signal) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.reaped {
		return ErrReaped
	}
	return unix.Kill(-c.Pid, sig)
}
