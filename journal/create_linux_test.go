package journal

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

func TestCreate(t *testing.T) {
	old := unix.Umask(0o777) // the modes do not depend on it
	dir := t.TempDir()
	_ = os.Chmod(dir, 0o700)
	path, err := Create(dir, RankName("attempt-1", 2), Header{Attempt: 1, Rank: 2})
	unix.Umask(old)
	if err != nil || path != dir+"/journal/attempt-1/rank-2.spans" || path != Path(dir, RankName("attempt-1", 2)) {
		t.Fatal(path, err)
	}
	for path, want := range map[string]os.FileMode{
		dir + "/journal": os.ModeDir | 0o700, filepath.Dir(path): os.ModeDir | 0o700, path: 0o600,
	} {
		if info, err := os.Lstat(path); err != nil || info.Mode() != want {
			t.Errorf("%s: %v, %v", path, info.Mode(), err)
		}
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if st := info.Sys().(*syscall.Stat_t); info.Size() != int64(size(DefaultSlots)) || st.Blocks*512 < info.Size() {
		t.Errorf("%d bytes, %d allocated: sparse", info.Size(), st.Blocks*512)
	}
	j := mustRead(t, path)
	if j.Claim != (Claim{}) || len(j.Spans) != 0 || j.Missing != 0 || !j.LastActivity.IsZero() {
		t.Errorf("%+v", j)
	}
}

func TestCreateRefuses(t *testing.T) {
	for name, test := range map[string]struct {
		before func(t *testing.T, dir string) error
		header Header
		want   string
	}{
		"a file that is there": {func(_ *testing.T, dir string) error {
			_, err := Create(dir, RankName("attempt-0", 0), Header{})
			return err
		}, Header{}, "file exists"},
		"a link in place of the file": {func(t *testing.T, dir string) error {
			return errors.Join(os.MkdirAll(dir+"/journal/attempt-0", 0o700), os.Symlink(t.TempDir()+"/x", Path(dir, RankName("attempt-0", 0))))
		}, Header{}, "file exists"},
		"a link in place of a directory": {func(t *testing.T, dir string) error { return os.Symlink(t.TempDir(), dir+"/journal") }, Header{}, "directory journal"},
		"a directory open to others": {func(_ *testing.T, dir string) error {
			return errors.Join(os.Mkdir(dir+"/journal", 0o700), os.Chmod(dir+"/journal", 0o755))
		}, Header{}, "lets others in"},
		"too many slots":   {nil, Header{Slots: MaxSlots + 1}, "1 to 4096"},
		"negative attempt": {nil, Header{Attempt: -1}, "32 bits"},
	} {
		dir := t.TempDir()
		if test.before != nil {
			if err := test.before(t, dir); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := Create(dir, RankName("attempt-0", 0), test.header); err == nil || !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), "cannot create journal") {
			t.Errorf("%s: %v, want %q", name, err, test.want)
		}
	}
}

func TestCreateRefusesNames(t *testing.T) {
	for _, name := range []string{"", "x.spans", "a/b/c.spans", "../x.spans", "a/..", "/x.spans", "attempt-0/rank-0", "attempt-0/../x.spans"} {
		if path, err := Create(t.TempDir(), name, Header{}); !errors.Is(err, errName) {
			t.Errorf("%q: %q, %v", name, path, err)
		}
	}
}

// No NFS here, but /proc is a file system that is not local either, and the error is
// one that the caller can tell from others.
func TestOnlyLocalFileSystems(t *testing.T) {
	if _, err := Create("/proc", RankName("attempt-0", 0), Header{}); !errors.Is(err, ErrFileSystem) {
		t.Errorf("/proc: %v", err)
	}
	for kind, want := range map[int64]bool{
		unix.TMPFS_MAGIC: true, unix.EXT4_SUPER_MAGIC: true, overlayMagic: true, unix.XFS_SUPER_MAGIC: true, unix.BTRFS_SUPER_MAGIC: true,
		unix.NFS_SUPER_MAGIC: false, unix.FUSE_SUPER_MAGIC: false, 0x0bd00bd0 /* Lustre */ : false, unix.CIFS_SUPER_MAGIC: false,
	} {
		if isLocal(kind) != want {
			t.Errorf("%#x: %v", kind, !want)
		}
	}
}

// A full file system is an error at creation, and nothing is left.
func TestFullFileSystem(t *testing.T) {
	dir := t.TempDir()
	d, err := os.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	// More than any file system has.
	if err := createFile(d, "huge", nil, 1<<60); err == nil {
		t.Error("no error")
	}
	if _, err := os.Lstat(dir + "/huge"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("something is left: %v", err)
	}
}

// Nobody but the owner, no link and no pipe gets past opening, for reading and for
// writing.
func TestOpenRefuses(t *testing.T) {
	path := made(t, 4)
	link, hard, pipe, open := path+".link", path+".hard", path+".pipe", path+".open"
	content, err := os.ReadFile(path)
	if err := errors.Join(err, os.Symlink(path, link), unix.Mkfifo(pipe, 0o600), os.WriteFile(open, content, 0o600), os.Chmod(open, 0o644)); err != nil {
		t.Fatal(err)
	}
	check := func(path, want string) {
		t.Helper()
		_, readErr := Read(path, ReadOptions{})
		_, openErr := Open(path)
		for _, err := range []error{readErr, openErr} {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, want %q", filepath.Base(path), err, want)
			}
		}
	}
	check(link, "symbolic link")
	check(pipe, "another type")
	check(open, "lets others in")
	check("/dev/null", "another type")
	if f, err := openFile(path, os.O_RDONLY, os.Geteuid()+1); err == nil || !strings.Contains(err.Error(), "belongs to user") {
		t.Errorf("as another user: %v, %v", f, err)
	}
	if os.Geteuid() == 0 {
		if err := os.Chown(open, 1, 1); err != nil {
			t.Fatal(err)
		}
		check(open, "belongs to user 1")
	}
	if err := os.Link(path, hard); err != nil {
		t.Fatal(err)
	}
	check(path, "second name")
}

// A size that the header does not say is no journal to write to: the writer would touch
// memory that is not there.
func TestOpenChecksTheSize(t *testing.T) {
	for _, change := range []int64{-1, -slotSize, slotSize, 1 << 30} {
		path := made(t, 4)
		if err := os.Truncate(path, int64(size(4))+change); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(path); err == nil {
			t.Errorf("%+d bytes: no error", change)
		}
	}
	if _, err := Open(write(t, []byte("x"))); !errors.Is(err, errNoJournal) {
		t.Errorf("one byte: %v", err)
	}
}
