package ledger

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"lenslaunch/test/second"
)

// Many launchers of one job at once: no two take the same number.
func TestManyProcessesTakeNumbers(t *testing.T) {
	const processes, each = 8, 15
	dir := t.TempDir()
	var helpers []*second.Process[answer]
	for range processes {
		helpers = append(helpers, startHelper(t, helperJob{Dir: dir, Action: "begin", Times: each}, nil))
	}
	numbers, counts, uuids := map[int64]bool{}, map[int64]bool{}, map[string]bool{}
	for _, h := range helpers {
		for range each {
			a, err := h.Answer()
			if err != nil || a.Error != "" {
				t.Fatal(err, a.Error)
			}
			numbers[a.Attempt.Number], counts[*a.Attempt.RestartCount], uuids[a.Attempt.UUID] = true, true, true
		}
	}
	const all = processes * each
	if len(numbers) != all || len(counts) != all || len(uuids) != all {
		t.Errorf("%d numbers, %d restart counts, %d UUIDs for %d attempts", len(numbers), len(counts), len(uuids), all)
	}
	h := mustRead(t, mustOpen(t, dir))
	if h.Len() != all {
		t.Errorf("the ledger has %d attempts", h.Len())
	}
	for _, a := range h.Attempts {
		if a.Outcome != OutcomeRunning {
			t.Fatalf("an attempt of a living launcher is %q", a.Outcome)
		}
	}
}

// SIGKILL after each step of the write: the ledger is the old or the new one,
// what is left over is harmless, and nothing that may have been used comes out
// a second time.
func TestKilledInTheMiddleOfTheWrite(t *testing.T) {
	for _, step := range []string{"created", "written", "synced", "renamed", "done"} {
		for _, before := range []int64{0, 2} {
			t.Run(fmt.Sprint(step, " after ", before), func(t *testing.T) {
				dir := t.TempDir()
				l := mustOpen(t, dir)
				for range before {
					mustBegin(t, l)
				}
				h := startHelper(t, helperJob{Dir: dir, Action: "die", Step: step}, nil)
				if a, err := h.Answer(); !errors.Is(err, io.EOF) {
					t.Fatalf("the helper survived: %+v, %v", a, err)
				}
				h.End()
				if status := h.Cmd.ProcessState.Sys().(syscall.WaitStatus); status.Signal() != syscall.SIGKILL {
					t.Fatalf("the helper ended with %v", h.Cmd.ProcessState)
				}
				entered := step == "renamed" || step == "done"
				want := before
				if entered {
					want++
				}
				after := mustRead(t, l)
				if after.Len() != want {
					t.Errorf("%d attempts, want %d", after.Len(), want)
				}
				if last, _ := after.Last(); entered && last.Outcome != OutcomeUnknown {
					t.Errorf("the dead launcher's attempt is %q", last.Outcome)
				}
				if a := mustBegin(t, l); a.Number != want {
					t.Errorf("the next attempt is %d, want %d", a.Number, want)
				}
				if _, err := os.Lstat(filepath.Join(dir, testFile+".tmp")); !errors.Is(err, os.ErrNotExist) {
					t.Errorf("a temporary file is left over after the next write: %v", err)
				}
			})
		}
	}
}

// SIGKILL at any moment of a busy launcher: what it said it had begun is in
// the ledger, and the next one goes on above it.
func TestKilledAtAnyMoment(t *testing.T) {
	dir := t.TempDir()
	l := mustOpen(t, dir)
	begun := map[string]bool{}
	for round := range 12 {
		h := startHelper(t, helperJob{Dir: dir, Action: "begin", Times: 1 << 20}, nil)
		for range 1 + round*2 {
			a, err := h.Answer()
			if err != nil || a.Error != "" {
				t.Fatal(err, a.Error)
			}
			if begun[a.Attempt.UUID] {
				t.Fatalf("attempt %d was begun twice", a.Attempt.Number)
			}
			begun[a.Attempt.UUID] = true
		}
		_ = h.Cmd.Process.Kill()
		for { // what it still said before it died
			a, err := h.Answer()
			if err != nil {
				break
			}
			if begun[a.Attempt.UUID] {
				t.Fatalf("attempt %d was begun twice", a.Attempt.Number)
			}
			begun[a.Attempt.UUID] = true
		}
		h.End()
		after := mustRead(t, l)
		there := map[string]bool{}
		for _, a := range after.Attempts {
			there[a.UUID] = true
			if a.Outcome != OutcomeUnknown {
				t.Fatalf("an attempt of a dead launcher is %q", a.Outcome)
			}
		}
		for id := range begun {
			if !there[id] {
				t.Fatalf("attempt %s was begun and is not in the ledger", id)
			}
		}
	}
}

// An attempt is running as long as its very launcher lives: not when another
// process has its pid, not after a reboot, and not when it is a zombie.
func TestRunningAndUnknown(t *testing.T) {
	dir := t.TempDir()
	l := mustOpen(t, dir)
	h := startHelper(t, helperJob{Dir: dir, Action: "begin", Times: 1}, nil)
	a, err := h.Answer()
	if err != nil || a.Error != "" {
		t.Fatal(err, a.Error)
	}
	outcome := func() string {
		last, _ := mustRead(t, l).Last()
		return last.Outcome
	}
	if got := outcome(); got != OutcomeRunning {
		t.Errorf("while the launcher lives: %q", got)
	}
	for name, change := range map[string]func(*Launcher){
		"pid":        func(l *Launcher) { l.Pid = os.Getpid() },
		"no pid":     func(l *Launcher) { l.Pid = 0 },
		"start time": func(l *Launcher) { l.Start++ },
		"boot id":    func(l *Launcher) { l.Boot = testJob },
	} {
		other := a.Attempt.Launcher
		change(&other)
		if alive(other) {
			t.Errorf("alive with another %s", name)
		}
	}
	if err := h.Cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	// Wait for the death without reaping.
	if err := unix.Waitid(unix.P_PID, h.Cmd.Process.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil); err != nil {
		t.Fatal(err)
	}
	if got := outcome(); got != OutcomeUnknown {
		t.Errorf("as a zombie: %q", got)
	}
	h.End()
	if got := outcome(); got != OutcomeUnknown {
		t.Errorf("after its death: %q", got)
	}
	if err := l.End(t.Context(), a.Attempt.UUID, "killed with the launcher"); err != nil {
		t.Fatal(err)
	}
	if got := outcome(); got != "killed with the launcher" {
		t.Errorf("after the guard's word: %q", got)
	}
}

// The wait for a lock ends with the context, and says what it waited for.
func TestLockWaitIsBounded(t *testing.T) {
	dir := t.TempDir()
	l := mustOpen(t, dir)
	holder := startHelper(t, helperJob{Dir: dir, Action: "lock"}, nil)
	if a, err := holder.Answer(); err != nil || a.Error != "" {
		t.Fatal(err, a.Error)
	}
	why := errors.New("told to stop")
	ctx, cancel := context.WithCancelCause(t.Context())
	failed := make(chan error, 1)
	go func() {
		_, err := l.Begin(ctx, nextTest)
		failed <- err
	}()
	cancel(why)
	err := <-failed
	if !errors.Is(err, why) || !strings.Contains(err.Error(), "cannot lock ledger "+l.path()) || !strings.Contains(err.Error(), "another launcher") {
		t.Errorf("error %v", err)
	}
	deadline, stop := context.WithTimeout(t.Context(), time.Millisecond)
	defer stop()
	if err := l.End(deadline, testUUID("0", 0), "failed"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("End: %v", err)
	}
	if h := mustRead(t, l); h.Len() != 0 {
		t.Errorf("reading waits for nobody: %+v", h)
	}
	// One who waits gets the lock in the moment its holder is killed, and those
	// who gave up above do not keep it.
	got := make(chan Attempt, 1)
	go func() { got <- mustBegin(t, l) }()
	holder.Kill()
	if a := <-got; a.Number != 0 {
		t.Errorf("attempt %d", a.Number)
	}
}

// Somebody removes the lock file while a launcher waits for it: the lock it
// gets is on a file that no name stands for, so it locks again.
func TestLockFileRemoved(t *testing.T) {
	dir := t.TempDir()
	l := mustOpen(t, dir)
	d, err := openDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	lock, err := l.acquire(t.Context(), d)
	if err != nil {
		t.Fatal(err)
	}
	if !isNamed(d, testFile+".lock", lock) {
		t.Error("a fresh lock is not under its name")
	}
	done := make(chan Attempt, 1)
	go func() { done <- mustBegin(t, l) }()
	if err := os.Remove(filepath.Join(dir, testFile+".lock")); err != nil {
		t.Fatal(err)
	}
	if isNamed(d, testFile+".lock", lock) {
		t.Error("the removed file still counts as the lock")
	}
	release(lock)
	<-done
	if _, err := os.Stat(filepath.Join(dir, testFile+".lock")); err != nil {
		t.Errorf("no lock file: %v", err)
	}
}

func TestLockFileThatIsNoFile(t *testing.T) {
	for name, put := range map[string]func(string) error{
		"link":      func(path string) error { return os.Symlink("/etc/passwd", path) },
		"directory": func(path string) error { return os.Mkdir(path, 0o700) },
		"pipe":      func(path string) error { return unix.Mkfifo(path, 0o600) },
	} {
		dir := t.TempDir()
		if err := put(filepath.Join(dir, testFile+".lock")); err != nil {
			t.Fatal(err)
		}
		_, err := mustOpen(t, dir).Begin(t.Context(), nextTest)
		if err == nil || !strings.Contains(err.Error(), "cannot lock ledger") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A disk that is full (here: a limit on the size of files) is an error before
// the attempt begins, and the old ledger stays.
func TestDiskFull(t *testing.T) {
	dir := t.TempDir()
	l := mustOpen(t, dir)
	mustBegin(t, l)
	h := startHelper(t, helperJob{Dir: dir, Action: "begin", Times: 1, Limit: 100}, nil)
	a, err := h.Answer()
	if err != nil || !strings.Contains(a.Error, "cannot write ledger "+l.path()) || !strings.Contains(a.Error, unix.EFBIG.Error()) {
		t.Errorf("answer %+v, %v", a, err)
	}
	h.End()
	if h := mustRead(t, l); h.Len() != 1 {
		t.Errorf("%d attempts", h.Len())
	}
	if _, err := os.Lstat(filepath.Join(dir, testFile+".tmp")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the partial file still takes room: %v", err)
	}
}

// stranger runs a helper as a user who may not write where root may.
func stranger(t *testing.T) func(*exec.Cmd) {
	t.Helper()
	if os.Getuid() != 0 {
		return nil
	}
	return func(cmd *exec.Cmd) {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	}
}

// reachable makes a directory that another user can reach, unlike t.TempDir.
func reachable(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, path := range []string{filepath.Dir(dir), dir} {
		if err := os.Chmod(path, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestReadOnlyDirectory(t *testing.T) {
	dir := reachable(t)
	if err := os.Chmod(dir, 0o555); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(dir, 0o755) })
	h := startHelper(t, helperJob{Dir: dir, Action: "begin", Times: 1}, stranger(t))
	a, err := h.Answer()
	if err != nil || !strings.Contains(a.Error, "cannot lock ledger "+filepath.Join(dir, testFile)) || !strings.Contains(a.Error, "permission denied") {
		t.Errorf("answer %+v, %v", a, err)
	}
}

// A file that another user put there is not believed.
func TestAnotherUsersLedger(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("needs root to make a file of another user")
	}
	dir := t.TempDir()
	l := mustOpen(t, dir)
	mustBegin(t, l)
	if err := os.Chown(filepath.Join(dir, testFile), 65534, -1); err != nil {
		t.Fatal(err)
	}
	checkUnusable(t, dir, "belongs to user 65534")
	if err := os.Chown(filepath.Join(dir, testFile+".lock"), 65534, -1); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Begin(t.Context(), nextTest); err == nil || !strings.Contains(err.Error(), "belongs to user 65534") {
		t.Errorf("another user's lock: %v", err)
	}
}

func TestParseStat(t *testing.T) {
	tail := " S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 4711 20 21"
	for _, name := range []string{"(launcher)", "(a b)", "(x) Z 1 (y)", "())", "()"} {
		start, state, err := parseStat([]byte("12 " + name + tail))
		if err != nil || start != 4711 || state != 'S' {
			t.Errorf("%s: %d, %c, %v", name, start, state, err)
		}
	}
	for _, bad := range []string{"", ")", "12 (x) S 1 2 3", "no parenthesis" + tail, "12 (x)" + strings.Replace(tail, "4711", "x", 1)} {
		if _, _, err := parseStat([]byte(bad)); err == nil {
			t.Errorf("parseStat(%q) did not err", bad)
		}
	}
}

func FuzzParseStat(f *testing.F) {
	f.Add([]byte("12 (a) b) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 4711 20"))
	f.Fuzz(func(t *testing.T, stat []byte) { _, _, _ = parseStat(stat) })
}
