package guard

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"lenslaunch/internal/ledger"
	"lenslaunch/internal/proc"
	"lenslaunch/internal/tree"
)

// TestMain makes the test binary the guard, a launcher that uses one, and a worker.
func TestMain(m *testing.M) {
	switch {
	case len(os.Args) == 2 && os.Args[1] == Word:
		os.Exit(Main())
	case os.Getenv("GUARD_TEST") == "launcher":
		os.Exit(beLauncher())
	case os.Getenv("GUARD_TEST") == "worker":
		fmt.Println(os.Getpid())
		sit()
	case os.Getenv("GUARD_TEST") == "last":
		if os.WriteFile(os.Getenv("GUARD_OUT"), []byte(strings.Join(os.Args, " ")), 0o600) != nil {
			os.Exit(9)
		}
		os.Exit(0)
	case os.Getenv("GUARD_TEST") == "parent":
		os.Exit(beParent())
	}
	os.Exit(m.Run())
}

// beParent is a worker that ends and leaves a child which shows nothing of it but its
// group.
func beParent() int {
	child := exec.Command(os.Args[0])
	child.Env, child.Stdout = []string{"GUARD_TEST=worker"}, os.Stdout
	if child.Start() != nil {
		return 9
	}
	return 0
}

// beLauncher starts a guard and a worker in a session of its own, tells the one of the
// other, says who they are, and then does what it is told on stdin.
func beLauncher() int {
	spawner, err := proc.NewSpawner()
	if err != nil {
		return 9
	}
	client, err := Start(spawner)
	if err != nil {
		return 8
	}
	// Nobody but the guard holds this one now; it closes it once it is deaf to signals.
	_ = syscall.Close(strayFD)
	mark, err := tree.NewMark(0)
	if err != nil {
		return 7
	}
	a := Attempt{Finder: tree.Finder{Mark: mark, Exclude: []proc.ID{client.Child.ID}}, Remove: []string{os.Getenv("GUARD_DIR")}}
	if dir := os.Getenv("GUARD_LEDGER"); dir != "" {
		a.Ledger = &Entry{Dir: dir, File: os.Getenv("GUARD_FILE"), UUID: os.Getenv("GUARD_UUID")}
	}
	if client.Attempt(a) != nil {
		return 6
	}
	if file := os.Getenv("GUARD_LAST"); file != "" {
		last := Command{Args: []string{"recover", "--at=" + Ended}, Env: []string{"GUARD_TEST=last", "GUARD_OUT=" + file}}
		if client.Last(last) != nil {
			return 6
		}
	}
	worker := exec.Command(os.Args[0])
	kind := cmp.Or(os.Getenv("GUARD_WORKER"), "worker")
	worker.Env = append(os.Environ(), "GUARD_TEST="+kind, tree.Variable+"="+mark.Value(0))
	// No parent-death signal and a session of its own: only the guard can end it.
	worker.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	out, err := worker.StdoutPipe()
	if err != nil || worker.Start() != nil {
		return 5
	}
	leader, err := proc.ReadStat(worker.Process.Pid)
	if err != nil || client.Leader(leader.ID) != nil {
		return 4
	}
	var pid int // the worker's, or of the child that it leaves
	if _, err := fmt.Fscan(out, &pid); err != nil {
		return 4
	}
	st, err := proc.ReadStat(pid)
	if err != nil {
		return 3
	}
	if kind == "parent" && lose(client, worker, st.Start, os.Getenv("GUARD_REAP") != "") != nil {
		return 1
	}
	fmt.Println(client.Child.Pid, client.Child.Start, st.Pid, st.Start)
	order, _ := bufio.NewReader(os.Stdin).ReadString('\n')
	if strings.TrimSpace(order) == "bye" {
		client.Bye()
		if _, err := client.Child.Wait(); err != nil {
			return 2
		}
		client.Child.Reap()
		return 0
	}
	sit()
	return 0
}

// sit lasts until the process is killed. (A program that waits for nothing in Go ends as
// deadlocked.)
func sit() {
	for {
		_, _ = unix.Ppoll(nil, nil, nil)
	}
}

// lose waits for the end of a worker, and reaps it if that is asked for, when its child
// is older than this tick of the clock.
func lose(client *Client, worker *exec.Cmd, child uint64, reap bool) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := unix.Waitid(unix.P_PID, worker.Process.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil); err != nil {
		return err
	}
	now, err := proc.Now()
	for ; err == nil && now <= child && ctx.Err() == nil; now, err = proc.Now() {
		runtime.Gosched()
	}
	if err != nil || !reap {
		return err
	}
	return errors.Join(client.Reaped(now), worker.Wait())
}

// strayFD is a descriptor that the launcher has from its parent.
const strayFD = 5

// scene is a launcher with its guard and worker.
type scene struct {
	launcher      *exec.Cmd
	stdin         *os.File
	guard, worker *proc.Handle
	dir           string
	deaf          *os.File // ends when the guard ignores signals
}

func start(t *testing.T, env ...string) *scene {
	t.Helper()
	s := &scene{dir: filepath.Join(t.TempDir(), "private")}
	if err := os.Mkdir(s.dir, 0o700); err != nil {
		t.Fatal(err)
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	s.stdin = w
	s.launcher = exec.Command(os.Args[0])
	s.launcher.Env = append(append(os.Environ(), "GUARD_TEST=launcher", "GUARD_DIR="+s.dir, "GORACE=atexit_sleep_ms=0"), env...)
	s.launcher.Stdin = r
	deaf, stray, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	s.deaf = deaf
	s.launcher.ExtraFiles = []*os.File{nil, nil, stray} // descriptor strayFD
	out, err := s.launcher.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.launcher.Start(); err != nil {
		t.Fatal(err)
	}
	r.Close()
	stray.Close()
	t.Cleanup(func() {
		_ = s.launcher.Process.Kill()
		_ = s.launcher.Wait() // an error if the test has waited already
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("the launcher did not start: %v, %v", err, s.launcher.Wait())
	}
	var g, wk proc.ID
	if _, err := fmt.Sscan(line, &g.Pid, &g.Start, &wk.Pid, &wk.Start); err != nil {
		t.Fatal(err)
	}
	if s.guard, err = proc.Hold(g); err != nil {
		t.Fatal(err)
	}
	if s.worker, err = proc.Hold(wk); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = s.worker.Signal(syscall.SIGKILL)
		s.worker.Close()
		s.guard.Close()
		s.deaf.Close()
		w.Close()
	})
	return s
}

func gone(t *testing.T, what string, h *proc.Handle) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := h.Wait(ctx); err != nil {
		t.Fatalf("the %s lives on: %v", what, err)
	}
}

// The launcher is killed: its worker goes, the directory goes, the ledger says so, and
// the guard ends.
func TestLauncherKilled(t *testing.T) {
	dir := t.TempDir()
	const uuid = "0f0c2f9c-52a6-5b5c-9d7e-6a1f0a6b7c8d"
	file := ledger.Name(uuid, "")
	book, err := ledger.Open(dir, file)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := book.Begin(context.Background(), func(h ledger.History) (ledger.Attempt, error) {
		return ledger.Attempt{UUID: uuid}, nil
	}); err != nil {
		t.Fatal(err)
	}
	s := start(t, "GUARD_LEDGER="+dir, "GUARD_FILE="+file, "GUARD_UUID="+uuid)
	if err := s.launcher.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = s.launcher.Wait()
	gone(t, "worker", s.worker)
	gone(t, "guard", s.guard)
	if _, err := os.Stat(s.dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the private directory is left: %v", err)
	}
	h, err := book.Read()
	if err != nil {
		t.Fatal(err)
	}
	if last, _ := h.Last(); !strings.Contains(last.Outcome, "guard") {
		t.Errorf("the ledger says %q", last.Outcome)
	}
}

// What a leader left in its group, and shows nothing else of the attempt, ends too, also
// where the leader was reaped before.
// When all has been ended the guard runs what its launcher left for that, and tells it
// when the launcher went; after a farewell it does not.
func TestLastCommand(t *testing.T) {
	for _, kill := range []bool{true, false} {
		file := filepath.Join(t.TempDir(), "last")
		s := start(t, "GUARD_LAST="+file)
		before := time.Now()
		if kill {
			if err := s.launcher.Process.Kill(); err != nil {
				t.Fatal(err)
			}
		} else if _, err := s.stdin.WriteString("bye\n"); err != nil {
			t.Fatal(err)
		}
		_ = s.launcher.Wait()
		gone(t, "guard", s.guard)
		text, err := os.ReadFile(file)
		if !kill {
			if !errors.Is(err, os.ErrNotExist) {
				t.Errorf("after a farewell: %q, %v", text, err)
			}
			continue
		}
		said, ok := strings.CutPrefix(string(text), "lenslaunch recover --at=")
		at, timeErr := time.Parse(time.RFC3339Nano, said)
		if err != nil || !ok || timeErr != nil || at.Before(before.Add(-time.Second)) || at.After(time.Now()) {
			t.Errorf("%q, %v, %v", text, err, timeErr)
		}
	}
}

func TestLauncherKilledAfterItsLeader(t *testing.T) {
	for _, reap := range []string{"", "1"} {
		s := start(t, "GUARD_WORKER=parent", "GUARD_REAP="+reap)
		if err := s.launcher.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = s.launcher.Wait()
		gone(t, "worker's child", s.worker)
		gone(t, "guard", s.guard)
	}
}

// Signals that end a session or a job do not end the guard.
func TestGuardIgnoresSignals(t *testing.T) {
	s := start(t)
	if n, err := s.deaf.Read(make([]byte, 1)); n != 0 || !errors.Is(err, io.EOF) {
		t.Fatalf("Read = %d, %v", n, err)
	}
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGUSR1, syscall.SIGTSTP} {
		if err := s.guard.Signal(sig); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.launcher.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = s.launcher.Wait()
	gone(t, "worker", s.worker)
	gone(t, "guard", s.guard)
}

// A launcher that ends by itself has ended its workers itself: the guard touches
// nothing.
func TestFarewell(t *testing.T) {
	s := start(t)
	if _, err := s.stdin.WriteString("bye\n"); err != nil {
		t.Fatal(err)
	}
	if err := s.launcher.Wait(); err != nil {
		t.Fatalf("launcher: %v", err)
	}
	gone(t, "guard", s.guard)
	if s.worker.Gone() {
		t.Error("the worker of a launcher that said farewell was ended")
	}
	if _, err := os.Stat(s.dir); err != nil {
		t.Errorf("the directory was touched: %v", err)
	}
}

// The guard has nothing of its launcher: no environment, no session.
func TestGuardIsByItself(t *testing.T) {
	s := start(t)
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", s.guard.Pid))
	if err != nil || strings.Contains(string(text), "GUARD_TEST") {
		t.Errorf("environment %q, %v", text, err)
	}
	for _, fd := range []string{"0", "1", "2"} {
		if target, err := os.Readlink(fmt.Sprintf("/proc/%d/fd/%s", s.guard.Pid, fd)); err != nil || target != os.DevNull {
			t.Errorf("descriptor %s is %s, %v", fd, target, err)
		}
	}
	if st, err := proc.ReadStat(s.guard.Pid); err != nil || st.Session != s.guard.Pid {
		t.Errorf("session of the guard: %+v, %v", st, err)
	}
}

// A pipe that the launcher's own parent left open is closed: somebody may wait for its
// end while the guard lives.
func TestInheritedDescriptorsAreClosed(t *testing.T) {
	launcher, hold, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer hold.Close()
	waiting, stray, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer waiting.Close()
	cmd := exec.Command(os.Args[0], Word)
	cmd.ExtraFiles = []*os.File{launcher, stray}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	launcher.Close()
	stray.Close()
	// The end of the pipe comes while the guard still waits for its launcher.
	if n, err := waiting.Read(make([]byte, 1)); n != 0 || !errors.Is(err, io.EOF) {
		t.Errorf("Read = %d, %v", n, err)
	}
	hold.Close()
	if err := cmd.Wait(); err != nil {
		t.Errorf("guard: %v", err)
	}
}
