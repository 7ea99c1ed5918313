package cgroup

import (
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
	"golang.org/x/sys/unix"
)

// TestMain makes the test binary its own helper: behaviours by name. Each process
// of a tree says its pid on the pipe that all of them inherit as stdout.
func TestMain(m *testing.M) {
	if behaviour := os.Getenv("CGROUP_TEST_HELPER"); behaviour != "" {
		os.Exit(help(behaviour))
	}
	code := m.Run()
	if code == 0 {
		if err := goleak.Find(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}

func help(behaviour string) int {
	switch behaviour {
	case "exit":
		return 0
	case "hang":
		return hang()
	case "ignore-term":
		signal.Ignore(syscall.SIGTERM, syscall.SIGHUP, syscall.SIGINT)
		return hang()
	case "stopped":
		fmt.Println(os.Getpid())
		_ = syscall.Kill(os.Getpid(), syscall.SIGSTOP)
		return 7 // only if somebody continues it
	case "child":
		return then(hang, "hang", nil)
	case "grandchild":
		return then(hang, "child", nil)
	case "daemon": // the classic double fork: its parent is gone when it works
		return then(exit, "daemon-middle", &syscall.SysProcAttr{Setsid: true})
	case "daemon-middle":
		return then(exit, "ignore-term", &syscall.SysProcAttr{Setsid: true})
	case "fork-loop":
		return forkLoop()
	case "escape":
		if err := os.WriteFile(os.Args[1]+"/cgroup.procs", []byte("0"), 0); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 9
		}
		return hang()
	}
	return helpFind(behaviour)
}

// hang says the pid and lives until it is killed; no longer than a test may last.
func hang() int {
	fmt.Println(os.Getpid())
	<-time.After(time.Minute)
	return 7
}

func exit() int { return 0 }

// then starts another behaviour and goes on with next.
func then(next func() int, behaviour string, attr *syscall.SysProcAttr) int {
	cmd := helper(behaviour)
	cmd.SysProcAttr = attr
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	if err := cmd.Start(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 9
	}
	return next()
}

// forkLoop is a process that forks its successor and exits, again and again: no
// list of pids is ever up to date. Bounded in case nobody ends it.
func forkLoop() int {
	left := 3000
	if len(os.Args) > 1 {
		left, _ = strconv.Atoi(os.Args[1])
	} else {
		fmt.Println(os.Getpid())
	}
	if left == 0 {
		return 0
	}
	cmd := helper("fork-loop", strconv.Itoa(left-1))
	if err := cmd.Start(); err != nil {
		return 9
	}
	return 0
}

func helper(behaviour string, args ...string) *exec.Cmd {
	cmd := exec.Command("/proc/self/exe", args...)
	// The race detector would hold each exit for a second.
	cmd.Env = append(os.Environ(), "CGROUP_TEST_HELPER="+behaviour, "GORACE=atexit_sleep_ms=0")
	return cmd
}

// parent finds our own group or skips, saying what is missing.
func parent(tb testing.TB) *Parent {
	tb.Helper()
	p, err := Find()
	if err != nil {
		tb.Skipf("no writable version 2 control group here: %v", err)
	}
	return p
}

// group makes a group that is gone when the test ends, with all that is in it.
func group(tb testing.TB) *Group {
	tb.Helper()
	p := parent(tb)
	g, err := p.Create(uniqueName(tb))
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := g.Kill(); err != nil {
			tb.Error(err)
		}
		if err := g.Remove(); err != nil {
			tb.Error(err)
		}
		if _, err := os.Stat(g.Path()); !os.IsNotExist(err) {
			tb.Errorf("%s is left over: %v", g.Path(), err)
		}
		g.Close()
	})
	return g
}

// uniqueName is a name that no other test and no other run of it has.
func uniqueName(tb testing.TB) string {
	tb.Helper()
	start, err := ownStart()
	if err != nil {
		tb.Fatal(err)
	}
	return GroupName(os.Getpid(), start, int(time.Now().UnixNano()))
}

// process is one that a helper told us of, pinned by a pidfd.
type process struct {
	pid, fd int
}

func pin(tb testing.TB, pid int) process {
	tb.Helper()
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		tb.Fatalf("cannot pin pid %d: %v", pid, err)
	}
	tb.Cleanup(func() { unix.Close(fd) })
	return process{pid: pid, fd: fd}
}

// ended waits for the end of exactly this process, at most d.
func (p process) ended(d time.Duration) bool {
	deadline := time.Now().Add(d)
	for {
		left := max(time.Until(deadline), 0)
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(p.fd), Events: unix.POLLIN}}, int(left.Milliseconds()))
		if err != unix.EINTR {
			return n == 1
		}
	}
}
