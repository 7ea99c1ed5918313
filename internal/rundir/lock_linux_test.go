package rundir

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/sys/unix"
)

// lockModes are the two ways to hold a directory.
func lockModes() map[string]system {
	without := realSystem()
	without.flock = func(*os.File, int) error { return unix.ENOLCK }
	return map[string]system{"flock": realSystem(), "file": without}
}

func TestTwoLaunchersOfOneProcess(t *testing.T) {
	for name, sys := range lockModes() {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			d := mustOpenWith(t, testOptions(t, dir), sys)
			_, err := open(testOptions(t, dir), sys)
			host, _ := os.Hostname()
			var held *HeldError
			if !errors.As(err, &held) {
				t.Fatalf("the error is %v", err)
			}
			wantEqual(t, "pid", held.Pid, os.Getpid())
			wantEqual(t, "host", held.Host, host)
			wantError(t, err, fmt.Sprintf("cannot use run directory %s: the launcher with pid %d on host %s holds it", dir, os.Getpid(), host))
			wantEqual(t, "a hint on the file", strings.Contains(err.Error(), heldName), name == "file")
			mustClose(t, d)
			mustOpenWith(t, testOptions(t, dir), sys)
		})
	}
}

// The lock ends with its process, however that ends.
func TestLauncherKilled(t *testing.T) {
	for name, sys := range lockModes() {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			h := startHelper(t, helperJob{Dir: dir, Mode: name, Umask: -1})
			first := h.MustAnswer(t)
			_, err := open(testOptions(t, dir), sys)
			var held *HeldError
			if !errors.As(err, &held) || held.Pid != first.Pid {
				t.Fatalf("the error is %v", err)
			}
			second := startHelper(t, helperJob{Dir: dir, Mode: name, Umask: -1})
			if a := second.MustAnswer(t); a.Held != first.Pid {
				t.Errorf("the second launcher says %+v", a)
			}
			h.Kill()
			d := mustOpenWith(t, testOptions(t, dir), sys)
			a := mustBegin(t, d, BeginInfo{})
			wantEqual(t, "name", a.Name(), "attempt-1")
			r := mustRead(t, dir)
			wantEqual(t, "names", names(r), []string{"attempt-0", "attempt-1"})
			wantEqual(t, "outcomes", []string{r.Attempts[0].Outcome, r.Attempts[1].Outcome}, []string{OutcomeUnknown, OutcomeRunning})
		})
	}
}

// A held directory is not touched by the one who finds it held.
func TestHeldDirectoryIsLeftAlone(t *testing.T) {
	dir := t.TempDir()
	mustOpen(t, testOptions(t, dir))
	before := content(t, dir+"/"+runName) + content(t, dir+"/"+eventsName) + content(t, dir+"/"+lockName)
	o := testOptions(t, dir)
	o.Run.RunID = "other"
	if _, err := Open(o); err == nil {
		t.Error("it was opened")
	}
	wantEqual(t, "content", content(t, dir+"/"+runName)+content(t, dir+"/"+eventsName)+content(t, dir+"/"+lockName), before)
}

// Each node of a run has a lock of its own.
func TestNodesDoNotHoldEachOther(t *testing.T) {
	dir := t.TempDir()
	for node := range 3 {
		o := testOptions(t, dir)
		o.Node, o.Nodes = node, 3
		d := mustOpen(t, o)
		wantEqual(t, "node's path", d.NodePath(), filepath.Join(dir, fmt.Sprintf("node-%d", node)))
		_, err := Open(o)
		wantError(t, err, fmt.Sprintf("node-%d: the launcher with pid", node))
	}
	wantEqual(t, "the directory", entries(t, dir), []string{"node-0", "node-1", "node-2"})
}

// A lock file that somebody removed must not make two locks.
func TestLockFileRemovedMeanwhile(t *testing.T) {
	dir := t.TempDir()
	sys := realSystem()
	first := true
	sys.flock = func(f *os.File, how int) error {
		if first && how&unix.LOCK_EX != 0 {
			first = false
			if err := os.Remove(f.Name()); err != nil {
				t.Error(err)
			}
		}
		return flock(f, how)
	}
	d := mustOpenWith(t, testOptions(t, dir), sys)
	if !d.lock.dir.named(lockName, d.lock.file) {
		t.Error("the lock is on a file without a name")
	}
}

func TestLockError(t *testing.T) {
	sys := realSystem()
	sys.flock = func(*os.File, int) error { return unix.EIO }
	_, err := open(testOptions(t, t.TempDir()), sys)
	wantError(t, err, "cannot use run directory", lockName, "input/output error")
}

// Nobody is named who is known to be gone: the one who has the lock has not written yet.
func TestHeldByOneWhoHasNotSaidSo(t *testing.T) {
	for what, text := range map[string]string{"empty": "", "torn": `{"pid":12`, "gone": goneHolder(t)} {
		t.Run(what, func(t *testing.T) {
			dir := t.TempDir()
			mustWrite(t, dir+"/"+lockName, text)
			f, err := os.OpenFile(dir+"/"+lockName, os.O_RDWR, 0)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			if err := flock(f, unix.LOCK_EX); err != nil {
				t.Fatal(err)
			}
			_, err = Open(testOptions(t, dir))
			wantError(t, err, "another launcher holds it")
		})
	}
}

// goneHolder is what a launcher of this machine wrote that has ended.
func goneHolder(t *testing.T) string {
	t.Helper()
	me := (Launcher{}).complete()
	me.Start++ // no process has this pid and start
	text, err := encodeLine(holder{Launcher: me, Since: testTime})
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// elsewhere is what a launcher wrote whose process cannot be asked for.
func elsewhere(t *testing.T) string {
	t.Helper()
	text, err := encodeLine(holder{Launcher: Launcher{Pid: 7, Start: 8, Host: "node9", Boot: "another", PidNS: "pid:[1]"}, Since: testTime})
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestTakingOver(t *testing.T) {
	sys := lockModes()["file"]
	tests := []struct {
		name, text string
		silent     time.Duration
		held       string // what the error says; empty: it is taken over
	}{
		{"gone", goneHolder(t), 0, ""},
		{"elsewhere and silent for long", elsewhere(t), deadAfter + time.Second, ""},
		{"elsewhere and alive", elsewhere(t), 40 * time.Second, "pid 7 on host node9 holds it: let it end, or give another directory (it showed life 40s ago and counts as dead after 3m0s"},
		{"elsewhere, by a clock ahead of ours", elsewhere(t), -time.Hour, "it showed life 0s ago"},
		{"empty and new", "", 0, "another launcher holds it"},
		{"empty and old", "", time.Hour, ""},
		{"foreign and old", "hello", time.Hour, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			path := dir + "/" + heldName
			mustWrite(t, path, tt.text)
			then := time.Now().Add(-tt.silent)
			if err := os.Chtimes(path, then, then); err != nil {
				t.Fatal(err)
			}
			d, err := open(testOptions(t, dir), sys)
			if tt.held != "" {
				wantError(t, err, tt.held, "remove "+path)
				wantEqual(t, "lock file", content(t, path), tt.text)
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(content(t, path), fmt.Sprintf(`"pid":%d,`, os.Getpid())) {
				t.Errorf("the lock says %s", content(t, path))
			}
			mustClose(t, d)
			list, _ := filepath.Glob(dir + "/*.held*")
			hidden, _ := filepath.Glob(dir + "/.clock*")
			wantEqual(t, "left behind", len(list)+len(hidden), 0)
		})
	}
}

// Many find the same dead launcher at once: one gets the directory.
func TestTakingOverAtOnce(t *testing.T) {
	sys := lockModes()["file"]
	dir := t.TempDir()
	mustWrite(t, dir+"/"+heldName, goneHolder(t))
	var wg sync.WaitGroup
	var mu sync.Mutex
	var got []*Dir
	for range 16 {
		wg.Go(func() {
			d, err := open(testOptions(t, dir), sys)
			mu.Lock()
			defer mu.Unlock()
			var held *HeldError
			if err == nil {
				got = append(got, d)
			} else if !errors.As(err, &held) {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	wantEqual(t, "launchers", len(got), 1)
	for _, d := range got {
		mustClose(t, d)
	}
}

// Somebody else was faster: a new lock stays.
func TestTakingOverLeavesANewLock(t *testing.T) {
	dir := t.TempDir()
	d, err := makeFolder(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	mustWrite(t, dir+"/"+heldName, goneHolder(t))
	dead, err := readHeld(d)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(dir + "/" + heldName); err != nil {
		t.Fatal(err)
	}
	mustWrite(t, dir+"/"+heldName, elsewhere(t))
	later := dead.info.ModTime().Add(time.Millisecond) // the file may have the number of the first
	if err := os.Chtimes(dir+"/"+heldName, later, later); err != nil {
		t.Fatal(err)
	}
	if err := removeDead(d, dead); err != nil {
		t.Fatal(err)
	}
	wantEqual(t, "lock", content(t, dir+"/"+heldName), elsewhere(t))
	if err := errors.Join(os.Remove(dir+"/"+heldName), removeDead(d, dead)); err != nil {
		t.Errorf("when it is gone already: %v", err)
	}
	list, _ := filepath.Glob(dir + "/run.lock*")
	wantEqual(t, "files", len(list), 0)
}

// A launcher that crashed while it took over is in nobody's way for long.
func TestTakingOverAfterACrashThere(t *testing.T) {
	sys := lockModes()["file"]
	for silent, free := range map[time.Duration]bool{time.Second: false, deadAfter + time.Second: true} {
		dir := t.TempDir()
		mustWrite(t, dir+"/"+heldName, goneHolder(t))
		mustWrite(t, dir+"/"+takeName, "")
		then := time.Now().Add(-silent)
		if err := os.Chtimes(dir+"/"+takeName, then, then); err != nil {
			t.Fatal(err)
		}
		d, err := open(testOptions(t, dir), sys)
		if err == nil {
			mustClose(t, d)
		}
		var held *HeldError
		if free != (err == nil) || !free && !errors.As(err, &held) {
			t.Errorf("after %v: %v", silent, err)
		}
	}
}

// A lock that somebody took away is somebody else's: it is not removed at the end.
func TestLostLockIsLeftAlone(t *testing.T) {
	dir := t.TempDir()
	d := mustOpenWith(t, testOptions(t, dir), lockModes()["file"])
	if err := os.Remove(dir + "/" + heldName); err != nil {
		t.Fatal(err)
	}
	mustWrite(t, dir+"/"+heldName, elsewhere(t))
	mustClose(t, d)
	wantEqual(t, "lock", content(t, dir+"/"+heldName), elsewhere(t))
}

// While a launcher runs, its lock file is never old.
func TestLockShowsLife(t *testing.T) {
	for name, sys := range lockModes() {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := mustOpenWith(t, testOptions(t, t.TempDir()), sys)
				old := time.Now().Add(-time.Hour)
				for range 3 {
					synctest.Wait()
					if err := os.Chtimes(d.lock.file.Name(), old, old); err != nil {
						t.Fatal(err)
					}
					<-time.After(beatEvery + time.Second)
					synctest.Wait()
					if info, err := d.lock.file.Stat(); err != nil || info.ModTime().Equal(old) {
						t.Errorf("it is as before: %v", err)
					}
				}
				mustClose(t, d)
			})
		})
	}
}

func TestLauncherState(t *testing.T) {
	me := (Launcher{}).complete()
	gone, other, none := me, me, me
	gone.Start++
	other.Boot = "another"
	none.Pid = -1
	for want, l := range map[string]Launcher{OutcomeRunning: me, OutcomeUnknown: gone} {
		wantEqual(t, "state", l.State(), want)
	}
	for _, l := range []Launcher{other, none, {}} {
		wantEqual(t, "state", l.State(), "")
	}
}
