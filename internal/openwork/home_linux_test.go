package openwork

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"lenslaunch/journal"
)

func settled(t *testing.T, h *Home, err error) *Home {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func settle(t *testing.T, p Place) *Home {
	t.Helper()
	h, err := Settle(p)
	return settled(t, h, err)
}

// files lists everything below a directory.
func files(t *testing.T, dir string) (all []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
		if path != dir {
			all = append(all, strings.TrimPrefix(path, dir+"/"))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestSettleInTheRunDirectory(t *testing.T) {
	dir := t.TempDir()
	h := settle(t, Place{Dir: dir, Run: "run-7", Node: 2, Own: 100})
	if h.Dir != dir || h.Moved || h.Leftovers != nil || h.Own == nil || exists(t, filepath.Join(dir, pointerName)) {
		t.Errorf("%+v", h)
	}
	entries := listed(t, dir)
	if len(entries) != 1 || entries[0].Group != journal.LauncherGroup || !InUse(entries[0].Path) {
		t.Fatalf("%+v", entries)
	}
	j, err := journal.Read(entries[0].Path, journal.ReadOptions{})
	if err != nil || j.RunID != "run-7" || j.Rank != 2 || j.Slots != 200 || j.Claim.PID != os.Getpid() {
		t.Errorf("%+v, %v", j, err)
	}
	lock, err := Lock(h.Dir)
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Close()
	if h.Close() || len(files(t, dir)) != 0 {
		t.Errorf("left: %v", files(t, dir))
	}
}

// However many spans a launcher may have open, the journal has room within its bounds.
func TestSettleOwnSlots(t *testing.T) {
	for own, want := range map[int]int{0: 64, 100_000: journal.MaxSlots} {
		h := settle(t, Place{Dir: t.TempDir(), Own: own})
		if j, err := journal.Read(h.own, journal.ReadOptions{}); err != nil || j.Slots != want {
			t.Errorf("%d: %d slots, %v", own, j.Slots, err)
		}
	}
}

// What earlier launchers have left is found, and Close leaves it, and what is no journal.
func TestSettleLeftovers(t *testing.T) {
	dir := t.TempDir()
	rank := put(t, dir, "attempt-0/rank-3.spans", nil)
	h := settle(t, Place{Dir: dir})
	if diff := cmp.Diff([]Entry{{Path: rank.Path, Group: "attempt-0", Rank: 3}}, h.Leftovers); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if !h.Close() || !exists(t, rank.Path) || exists(t, h.own) {
		t.Errorf("left: %v", files(t, dir))
	}
	h = settle(t, Place{Dir: dir})
	if err := os.Rename(rank.Path, journal.Path(dir, "notes")); err != nil {
		t.Fatal(err)
	}
	if h.Close() || !exists(t, journal.Path(dir, "notes")) {
		t.Error("something that is no journal was removed")
	}
}

// Where the disk was full there is an attempt's directory without journals: it goes, too.
func TestCloseRemovesWhatIsEmpty(t *testing.T) {
	temp := t.TempDir()
	h := settle(t, Place{Env: map[string]string{"TMPDIR": temp}})
	if err := os.Mkdir(journal.Path(h.Dir, "attempt-0"), 0o700); err != nil {
		t.Fatal(err)
	}
	if h.Close() || len(files(t, temp)) != 0 {
		t.Errorf("left: %v", files(t, temp))
	}
}

// Workers have other working directories.
func TestSettleIsAbsolute(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	if h := settle(t, Place{Dir: "."}); h.Dir != dir || !filepath.IsAbs(h.own) {
		t.Errorf("%+v", h)
	}
}

func TestSettleElsewhere(t *testing.T) {
	session, temp := t.TempDir(), t.TempDir()
	missing := filepath.Join(temp, "missing")
	for name, test := range map[string]struct {
		env   map[string]string
		below string
	}{
		"session":                 {map[string]string{"XDG_RUNTIME_DIR": session, "TMPDIR": temp}, session},
		"no session":              {map[string]string{"TMPDIR": temp}, temp},
		"session's is missing":    {map[string]string{"XDG_RUNTIME_DIR": missing, "TMPDIR": temp}, temp},
		"session's is not local":  {map[string]string{"XDG_RUNTIME_DIR": "/proc", "TMPDIR": temp}, temp},
		"neither: the system's":   {map[string]string{"XDG_RUNTIME_DIR": missing, "TMPDIR": missing}, os.TempDir()},
		"nothing in the environs": {nil, os.TempDir()},
	} {
		h := settle(t, Place{Env: test.env})
		if filepath.Dir(h.Dir) != filepath.Clean(test.below) || h.Moved {
			t.Errorf("%s: %q, moved: %v", name, h.Dir, h.Moved)
		}
		if info, err := os.Stat(h.Dir); err != nil || info.Mode().Perm() != 0o700 {
			t.Errorf("%s: %v, %v", name, info.Mode(), err)
		}
		if h.Close() || exists(t, h.Dir) {
			t.Errorf("%s: left in %s: %v", name, h.Dir, files(t, h.Dir))
		}
	}
	// As on a cluster whose TMPDIR is on a network file system.
	t.Setenv("TMPDIR", "/proc")
	h := settle(t, Place{Env: map[string]string{"XDG_RUNTIME_DIR": missing, "TMPDIR": "/proc"}})
	if filepath.Dir(h.Dir) != "/tmp" || h.Close() {
		t.Errorf("%q", h.Dir)
	}
}

// A run directory where no journals can be: they lie elsewhere, the run directory tells
// where, and the next launcher of the run finds what is left there.
func TestSettleMoved(t *testing.T) {
	dir, temp := t.TempDir(), t.TempDir()
	p := Place{Dir: dir, Env: map[string]string{"TMPDIR": temp}}
	move := func() *Home {
		t.Helper()
		h, err := p.move()
		return settled(t, h, err)
	}
	homes := func() string {
		t.Helper()
		list, err := Sites(dir)
		if err != nil || len(list) != 1 || list[0].Dir != dir {
			t.Fatal(list, err)
		}
		return list[0].Home
	}
	first := move()
	if filepath.Dir(first.Dir) != temp || !first.Moved || homes() != first.Dir {
		t.Errorf("%+v; the run directory says %s", first, homes())
	}
	rank := put(t, first.Dir, "attempt-0/rank-3.spans", nil)
	if !first.Close() || homes() != first.Dir {
		t.Errorf("left: %v", files(t, temp))
	}
	second := move()
	if second.Dir != first.Dir || len(second.Leftovers) != 1 || second.Leftovers[0].Path != rank.Path {
		t.Errorf("%+v", second)
	}
	if err := Remove(rank.Path); err != nil {
		t.Fatal(err)
	}
	if second.Close() || len(files(t, temp)) != 0 || len(files(t, dir)) != 0 {
		t.Errorf("left: %v, %v", files(t, temp), files(t, dir))
	}

	// What was there was cleared away, or is open to others: another place.
	for _, damage := range []func(string) error{os.RemoveAll, func(dir string) error { return os.Chmod(dir, 0o777) }} {
		before := move()
		if err := damage(before.Dir); err != nil {
			t.Fatal(err)
		}
		if after := move(); after.Dir == before.Dir || homes() != after.Dir {
			t.Errorf("%s again", after.Dir)
		}
	}
	// An earlier launcher was on another host.
	writePointerOf(t, dir, "far", "/far")
	if h := move(); homes() != h.Dir {
		t.Errorf("the run directory says %s", homes())
	}
}

func TestSettleRefuses(t *testing.T) {
	temp := t.TempDir()
	env := map[string]string{"TMPDIR": temp}
	open := t.TempDir()
	if err := errors.Join(os.Mkdir(journal.Folder(open), 0o700), os.Chmod(journal.Folder(open), 0o755)); err != nil {
		t.Fatal(err)
	}
	for dir, want := range map[string]string{
		"/proc":                "cannot say where the journals are", // not local, and nobody can write there
		temp + "/missing":      "no such file",
		open:                   "lets others in",
		os.DevNull + "/nobody": "not a directory",
	} {
		if h, err := Settle(Place{Dir: dir, Env: env}); err == nil || h != nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %+v, %v; want %q", dir, h, err, want)
		}
	}
	if left := files(t, temp); len(left) != 0 {
		t.Errorf("left: %v", left)
	}
}
