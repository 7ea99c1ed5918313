package proc

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// helper is a command that behaves as named.
func helper(behaviour string, args ...string) *exec.Cmd {
	cmd := exec.Command(os.Args[0], args...)
	// The race detector lets a process sleep for a second at its end.
	cmd.Env = append(os.Environ(), "PROC_TEST_HELPER="+behaviour, "GORACE=atexit_sleep_ms=0")
	return cmd
}

func spawner(t *testing.T) *Spawner {
	t.Helper()
	s, err := NewSpawner()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// startReady starts a helper and waits for its first line.
func startReady(t *testing.T, s *Spawner, behaviour string) (*Child, string) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd := helper(behaviour)
	cmd.Stdout = w
	c, err := s.Start(cmd)
	w.Close()
	if err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(r).ReadString('\n')
	r.Close()
	if err != nil {
		t.Fatalf("%s is not ready: %v", behaviour, err)
	}
	return c, strings.TrimSpace(line)
}

func TestExitStatus(t *testing.T) {
	s := spawner(t)
	for _, code := range []int{0, 1, 3, 77, 255} {
		c, err := s.Start(helper("exit", strconv.Itoa(code)))
		if err != nil {
			t.Fatal(err)
		}
		got, err := c.Wait()
		if err != nil || got != (Exit{Code: code}) {
			t.Errorf("exit %d: %v, %v", code, got, err)
		}
		if !c.Ended() {
			t.Error("Ended is false after Wait")
		}
		c.Reap()
	}
}

func TestKilledStatus(t *testing.T) {
	s := spawner(t)
	c, _ := startReady(t, s, "hang")
	if err := c.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if got, err := c.Wait(); err != nil || got.Signal != syscall.SIGKILL || got.ShellCode() != 137 {
		t.Errorf("Wait = %v, %v", got, err)
	}
	c.Reap()
}

// Between Wait and Reap the child is a zombie of the same identity; after Reap
// nothing can be signalled, whoever has the pid then.
func TestZombieUntilReaped(t *testing.T) {
	s := spawner(t)
	c, err := s.Start(helper("exit", "0"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Wait(); err != nil {
		t.Fatal(err)
	}
	st, err := ReadStat(c.Pid)
	if err != nil || st.State != 'Z' || st.ID != c.ID || st.Group != c.Pid {
		t.Errorf("before Reap: %+v, %v", st, err)
	}
	if c.ID.Alive() {
		t.Error("a zombie counts as alive")
	}
	if err := c.Signal(syscall.SIGTERM); err != nil {
		t.Errorf("Signal to a zombie: %v", err)
	}
	if err := c.SignalGroup(0); err != nil {
		t.Errorf("SignalGroup to a zombie: %v", err)
	}
	c.Reap()
	c.Reap() // harmless
	if _, err := ReadStat(c.Pid); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("after Reap it is still there: %v", err)
	}
	if !errors.Is(c.Signal(syscall.SIGTERM), ErrReaped) || !errors.Is(c.SignalGroup(syscall.SIGTERM), ErrReaped) {
		t.Error("a reaped child can be signalled")
	}
}

// The group is signalled also when its leader is dead already.
func TestGroupOutlivesItsLeader(t *testing.T) {
	s := spawner(t)
	c, line := startReady(t, s, "fork-hang")
	grandchild, err := strconv.Atoi(line)
	if err != nil {
		t.Fatal(err)
	}
	pidfd, err := unix.PidfdOpen(grandchild, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(pidfd)
	if err := c.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Wait(); err != nil {
		t.Fatal(err)
	}
	if err := c.SignalGroup(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	waitGone(t, pidfd)
	c.Reap()
}

// waitGone waits for the end of a process by its pidfd.
func waitGone(t *testing.T, pidfd int) {
	t.Helper()
	for {
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(pidfd), Events: unix.POLLIN}}, 30_000)
		switch {
		case errors.Is(err, unix.EINTR):
		case err != nil:
			t.Fatal(err)
		case n == 0:
			t.Fatal("the process still lives after 30 s")
		default:
			return
		}
	}
}

// When the process that started a child is killed, the child goes with it.
func TestParentDeathSignal(t *testing.T) {
	s := spawner(t)
	parent, line := startReady(t, s, "parent")
	pid, err := strconv.Atoi(line)
	if err != nil {
		t.Fatal(err)
	}
	pidfd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(pidfd)
	if err := parent.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	waitGone(t, pidfd)
	if _, err := parent.Wait(); err != nil {
		t.Fatal(err)
	}
	parent.Reap()
}

// Waiting for many children holds no thread each (launch specification, "Reaping").
func TestWaitersHoldNoThreads(t *testing.T) {
	const children = 64
	s := spawner(t)
	stdin, hold, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer stdin.Close()
	var started []*Child
	for range children {
		cmd := exec.Command("cat")
		cmd.Stdin = stdin
		c, err := s.Start(cmd)
		if err != nil {
			t.Fatal(err)
		}
		started = append(started, c)
	}
	var waiting, all sync.WaitGroup
	for _, c := range started {
		waiting.Add(1)
		all.Go(func() {
			waiting.Done()
			if _, err := c.Wait(); err != nil {
				t.Error(err)
			}
			c.Reap()
		})
	}
	waiting.Wait()
	runtime.Gosched()
	if n := threads(t); n > children/2 {
		t.Errorf("%d threads while waiting for %d children", n, children)
	}
	hold.Close()
	all.Wait()
}

func threads(t *testing.T) int {
	t.Helper()
	tasks, err := os.ReadDir("/proc/self/task")
	if err != nil {
		t.Fatal(err)
	}
	return len(tasks)
}

// A signal mask that the launcher was started with does not reach its workers
// (rust-lang/rust#101077).
func TestInheritedMaskIsReset(t *testing.T) {
	var masked unix.Sigset_t
	masked.Val[0] = 1<<(uint(syscall.SIGTERM)-1) | 1<<(uint(syscall.SIGUSR1)-1)
	var s *Spawner
	var err error
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // never unlocked: the thread ends with its mask
		if err = unix.PthreadSigmask(unix.SIG_BLOCK, &masked, nil); err == nil {
			s, err = NewSpawner()
		}
	}()
	<-done
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	cmd := helper("mask")
	cmd.Stdout = w
	c, err := s.Start(cmd)
	w.Close()
	if err != nil {
		t.Fatal(err)
	}
	blocked := ""
	for sc := bufio.NewScanner(r); sc.Scan(); {
		if rest, ok := strings.CutPrefix(sc.Text(), "SigBlk:"); ok {
			blocked = strings.TrimSpace(rest)
		}
	}
	if strings.Trim(blocked, "0") != "" || blocked == "" {
		t.Errorf("the child starts with the signal mask %q", blocked)
	}
	if _, err := c.Wait(); err != nil {
		t.Fatal(err)
	}
	c.Reap()
}

// A file that is still open for writing in a fork elsewhere can be executed a
// moment later (golang/go#22315).
func TestBusyExecutableIsRetried(t *testing.T) {
	path := t.TempDir() + "/script"
	true_, err := os.ReadFile("/bin/true")
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o755)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Write(true_); err != nil {
		t.Fatal(err)
	}
	waits := 0
	cmd := exec.Command(path)
	if err := startRetrying(cmd, func(time.Duration) { waits++; f.Close() }); err != nil {
		t.Fatalf("cannot start a file that was just written: %v", err)
	}
	if err := cmd.Wait(); err != nil || waits != 1 {
		t.Errorf("Wait = %v after %d waits", err, waits)
	}
}

// The pause ends when the writer closes the file, not by its time.
func TestPauseEndsWithTheWriter(t *testing.T) {
	path := t.TempDir() + "/script"
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o755)
	if err != nil {
		t.Fatal(err)
	}
	w := writers{path: path}
	defer w.close()
	w.pause(0) // begins to watch
	f.Close()
	w.pause(time.Hour)
	// It has been told of once.
	if n, err := unix.Poll([]unix.PollFd{{Fd: int32(w.fd), Events: unix.POLLIN}}, 0); n != 0 || err != nil {
		t.Errorf("the event stays: %d, %v", n, err)
	}
}

// A file that stays busy is an error, not an endless wait.
func TestExecutableThatStaysBusy(t *testing.T) {
	path := t.TempDir() + "/script"
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o755)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := startRetrying(exec.Command(path), func(time.Duration) {}); !errors.Is(err, syscall.ETXTBSY) {
		t.Errorf("start of a busy file: %v", err)
	}
}

func TestStartErrors(t *testing.T) {
	s := spawner(t)
	for path, want := range map[string]error{
		"/no/such/file": os.ErrNotExist, t.TempDir(): syscall.EACCES,
	} {
		if _, err := s.Start(&exec.Cmd{Path: path, Args: []string{path}}); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", path, err, want)
		}
	}
}

func TestParseStat(t *testing.T) {
	fields := "S 10 11 12 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 424242 1 2 3"
	st, err := parseStat([]byte("77 (a (b) c) " + fields + "\n"))
	want := Stat{ID: ID{77, 424242}, Comm: "a (b) c", State: 'S', Parent: 10, Group: 11, Session: 12, Threads: 1}
	if err != nil || st != want {
		t.Errorf("parseStat = %+v, %v", st, err)
	}
	for _, bad := range []string{"", "77", "77 (x)", "(x) " + fields, "77 (x) S 1 2", "x (y) " + fields, "77 )x( " + fields} {
		if st, err := parseStat([]byte(bad)); err == nil {
			t.Errorf("%q was taken as %+v", bad, st)
		}
	}
}

func FuzzParseStat(f *testing.F) {
	f.Add([]byte("77 (a) S 10 11 12 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 424242 1 2 3"))
	f.Fuzz(func(t *testing.T, text []byte) {
		if st, err := parseStat(text); err == nil && fmt.Sprint(st) == "" {
			t.Error("no text")
		}
	})
}
