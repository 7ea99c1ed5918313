package rundir

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"lenslaunch/test/nobody"
)

func TestOpenMakesDirectories(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "b", "run")
	d := mustOpen(t, testOptions(t, dir+"/"))
	wantEqual(t, "path", d.Path(), dir)
	wantEqual(t, "node's path", d.NodePath(), dir)
	for _, path := range []string{filepath.Dir(dir), dir} {
		wantEqual(t, "mode of "+path, mode(t, path), os.ModeDir|0o700)
	}
	for _, name := range []string{runName, eventsName, lockName} {
		wantEqual(t, "mode of "+name, mode(t, filepath.Join(dir, name)), os.FileMode(0o600))
	}
}

func TestOpenTakesARelativePath(t *testing.T) {
	t.Chdir(t.TempDir())
	d := mustOpen(t, testOptions(t, "run"))
	if !filepath.IsAbs(d.Path()) {
		t.Errorf("the path is %s", d.Path())
	}
	t.Chdir("/")
	mustBegin(t, d, BeginInfo{})
	if _, err := os.Stat(filepath.Join(d.Path(), "attempt-0")); err != nil {
		t.Error(err)
	}
}

// The mode of what its user made is the user's.
func TestOpenKeepsTheModeOfADirectory(t *testing.T) {
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o750); err != nil {
		t.Fatal(err)
	}
	mustOpen(t, testOptions(t, dir))
	wantEqual(t, "mode", mode(t, dir), os.ModeDir|0o750)
}

// A umask of another process, because it is the whole process's.
func TestModesWhateverTheUmask(t *testing.T) {
	for _, umask := range []int{0, 0o022, 0o777} {
		dir := filepath.Join(t.TempDir(), "new", "run")
		h := startHelper(t, helperJob{Dir: dir, Umask: umask})
		if a := h.MustAnswer(t); a.Error != "" {
			t.Fatalf("umask %03o: %s", umask, a.Error)
		}
		err := filepath.WalkDir(filepath.Dir(dir), func(path string, e os.DirEntry, err error) error {
			if err != nil {
				return err
			}
			want := os.FileMode(0o600)
			if e.IsDir() {
				want = os.ModeDir | 0o700
			}
			if got := mode(t, path); got != want && e.Type() != os.ModeSymlink {
				t.Errorf("umask %03o: %s has the mode %v", umask, path, got)
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
		h.End()
	}
}

// A project's directory makes everything below it count for the project's quota.
func TestSetGroupIDIsInherited(t *testing.T) {
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o700|os.ModeSetgid); err != nil {
		t.Fatal(err)
	}
	d := mustOpen(t, testOptions(t, filepath.Join(dir, "run")))
	a := mustBegin(t, d, BeginInfo{})
	for _, path := range []string{d.Path(), a.Path()} {
		if mode(t, path)&os.ModeSetgid == 0 {
			t.Errorf("%s has the mode %v", path, mode(t, path))
		}
	}
}

func TestOpenRefuses(t *testing.T) {
	tests := map[string]struct {
		prepare func(t *testing.T, base string) // the run directory is base/run
		says    []string
	}{
		"a symbolic link": {
			func(t *testing.T, base string) {
				mustMkdir(t, base+"/elsewhere")
				mustSymlink(t, base+"/elsewhere", base+"/run")
			}, []string{"run is a symbolic link", "/elsewhere"},
		},
		"a link to nowhere": {
			func(t *testing.T, base string) { mustSymlink(t, base+"/nowhere", base+"/run") },
			[]string{"run is a symbolic link", "/nowhere"},
		},
		"a file": {
			func(t *testing.T, base string) { mustWrite(t, base+"/run", "") },
			[]string{"run is no directory"},
		},
		"a lock that is a link": {
			func(t *testing.T, base string) {
				mustMkdir(t, base+"/run")
				mustSymlink(t, base+"/victim", base+"/run/"+lockName)
			}, []string{lockName + " is a symbolic link"},
		},
		"a lock that is a pipe": {
			func(t *testing.T, base string) {
				mustMkdir(t, base+"/run")
				mustFifo(t, base+"/run/"+lockName)
			}, []string{lockName + " is no regular file"},
		},
		"a run.json that is a link": {
			func(t *testing.T, base string) {
				mustMkdir(t, base+"/run")
				mustSymlink(t, base+"/victim", base+"/run/"+runName)
			}, []string{runName + " is a symbolic link"},
		},
		"a run.json that is a pipe": {
			func(t *testing.T, base string) {
				mustMkdir(t, base+"/run")
				mustFifo(t, base+"/run/"+runName)
			}, []string{runName, "no regular file"},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			base := t.TempDir()
			mustWrite(t, base+"/victim", "precious")
			tt.prepare(t, base)
			_, err := Open(testOptions(t, base+"/run"))
			wantError(t, err, append(tt.says, "cannot use")...)
			wantEqual(t, "the victim", content(t, base+"/victim"), "precious")
		})
	}
}

func TestOpenRefusesAFileAmongTheParents(t *testing.T) {
	base := t.TempDir()
	mustWrite(t, base+"/file", "")
	_, err := Open(testOptions(t, base+"/file/sub/run"))
	wantError(t, err, "/file is no directory")
}

func TestOpenFollowsLinksAmongTheParents(t *testing.T) {
	base := t.TempDir()
	mustMkdir(t, base+"/scratch")
	mustSymlink(t, "scratch", base+"/link")
	mustOpen(t, testOptions(t, base+"/link/new/run"))
	if _, err := os.Stat(base + "/scratch/new/run/" + runName); err != nil {
		t.Error(err)
	}
}

func TestOpenRefusesBadOptions(t *testing.T) {
	for _, o := range []Options{{}, {Dir: "x", Node: 1}, {Dir: "x", Node: -1}, {Dir: "x", Node: 2, Nodes: 2}} {
		if d, err := Open(o); err == nil {
			t.Errorf("%+v was opened", o)
			mustClose(t, d)
		}
	}
}

func TestOpenNeedsToWrite(t *testing.T) {
	if nobody.Rerun(t) {
		return
	}
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o500); err != nil {
		t.Fatal(err)
	}
	_, err := Open(testOptions(t, dir))
	wantError(t, err, "cannot use run directory "+dir, "permission denied")
}

// Somebody who swaps a directory for a link, while the run goes on, gains nothing: what
// is open stays open.
func TestDirectorySwappedForALink(t *testing.T) {
	base := t.TempDir()
	d := mustOpen(t, testOptions(t, base+"/run"))
	a := mustBegin(t, d, BeginInfo{})
	mustMkdir(t, base+"/trap")
	for _, path := range []string{a.Path(), d.Path()} {
		if err := os.Rename(path, path+".moved"); err != nil {
			t.Fatal(err)
		}
		mustSymlink(t, base+"/trap", path)
	}
	f, err := a.Output(0, Out)
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
	mustBegin(t, d, BeginInfo{})
	mustClose(t, d)
	wantEqual(t, "the trap", entries(t, base+"/trap"), []string{})
	wantEqual(t, "the run", names(mustRead(t, base+"/run.moved")), []string{"attempt-0", "attempt-1"})
}

// Files of the run that are swapped for links are not followed either.
func TestFilesSwappedForLinks(t *testing.T) {
	base := t.TempDir()
	d := mustOpen(t, testOptions(t, base+"/run"))
	a := mustBegin(t, d, BeginInfo{})
	mustWrite(t, base+"/victim", "precious")
	for _, path := range []string{a.OutputPath(1, Err), d.Path() + "/.run.json.tmp", d.Path() + "/.latest.tmp", a.Path() + "/.rank-2.out.new"} {
		mustSymlink(t, base+"/victim", path)
	}
	_, err := a.Output(1, Err)
	wantError(t, err, "cannot open the output file of rank 1", "is a symbolic link")
	w, err := a.Log(2, Out, 4, 1)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write([]byte("one\ntwo\n")); err != nil {
		t.Error(err)
	}
	_ = w.Close()
	mustBegin(t, d, BeginInfo{})
	mustClose(t, d)
	wantEqual(t, "the victim", content(t, base+"/victim"), "precious")
}

func TestOtherOwner(t *testing.T) {
	needRoot(t)
	dir := t.TempDir()
	if err := os.Chown(dir, 1234, -1); err != nil {
		t.Fatal(err)
	}
	_, err := Open(testOptions(t, dir))
	wantError(t, err, dir+" belongs to user 1234, not to user 0")
	wantEqual(t, "the directory", entries(t, dir), []string{})
}

func TestOtherOwnersFile(t *testing.T) {
	needRoot(t)
	d := newDir(t)
	a := mustBegin(t, d, BeginInfo{})
	mustWrite(t, a.OutputPath(0, Out), "")
	if err := os.Chown(a.OutputPath(0, Out), 1234, -1); err != nil {
		t.Fatal(err)
	}
	_, err := a.Output(0, Out)
	wantError(t, err, "rank-0.out belongs to user 1234, not to user 0")

	mustMkdir(t, d.Path()+"/attempt-5")
	if err := os.Chown(d.Path()+"/attempt-5", 1234, -1); err != nil {
		t.Fatal(err)
	}
	_, err = d.Begin(BeginInfo{Name: "attempt-5"})
	wantError(t, err, "cannot begin an attempt", "attempt-5 belongs to user 1234")
}

// A server that squashes root stores root's files as somebody else's.
func TestMappedOwner(t *testing.T) {
	needRoot(t)
	dir := t.TempDir()
	if err := errors.Join(os.Chown(dir, 1234, -1), os.Chmod(filepath.Dir(dir), 0o755)); err != nil {
		t.Fatal(err)
	}
	d, err := makeFolder(dir + "/")
	if err == nil {
		d.Close()
		t.Error("it is taken for ours")
	}
	// The thread dies with the goroutine, which keeps it locked.
	done := make(chan error)
	go func() {
		runtime.LockOSThread()
		done <- func() error {
			if _, err := unix.SetfsuidRetUid(1234); err != nil {
				return err
			}
			d, err := makeFolder(dir)
			if err != nil {
				return err
			}
			defer d.Close()
			if d.owner != 1234 {
				t.Errorf("the owner is %d", d.owner)
			}
			f, err := d.openOrCreate("file", unix.O_RDWR)
			if err != nil {
				return err
			}
			return f.Close()
		}()
	}()
	if err := <-done; err != nil {
		t.Error(err)
	}
	if list := strings.Join(entries(t, dir), " "); list != "file" {
		t.Errorf("left behind: %s", list)
	}
}

func mustSymlink(t *testing.T, target, path string) {
	t.Helper()
	if err := os.Symlink(target, path); err != nil {
		t.Fatal(err)
	}
}

func mustFifo(t *testing.T, path string) {
	t.Helper()
	if err := unix.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
}
