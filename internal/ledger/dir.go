package ledger

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"
)

// Path says where ledgers are kept and creates nothing: the explicit
// directory, or lenslaunch-<uid> under TMPDIR or /tmp. isExplicit tells which
// of the two; if an explicit directory cannot be used that is an error for the
// user, if the default one cannot, a warning.
//
// A symbolic link as explicit directory is the user's choice and replaced by
// what it points to; from here on no link is followed.
func Path(env map[string]string, explicit string, uid int) (dir string, isExplicit bool) {
	if explicit != "" {
		if real, err := filepath.EvalSymlinks(explicit); err == nil {
			explicit = real
		}
		return absolute(explicit), true
	}
	temp := env["TMPDIR"]
	if temp == "" {
		temp = "/tmp"
	}
	return filepath.Join(absolute(temp), "lenslaunch-"+strconv.Itoa(uid)), false
}

// absolute keeps a directory valid should the working directory change.
func absolute(dir string) string {
	if abs, err := filepath.Abs(dir); err == nil {
		return abs
	}
	return dir
}

// Dir is [Path] made ready: the directory exists when it returns. A missing
// one is created with mode 0700. The default one lies where everybody can
// write, so it must be a real directory, no symbolic link, and belong to uid.
func Dir(env map[string]string, explicit string, uid int) (dir string, isExplicit bool, err error) {
	if explicit != "" {
		err = os.MkdirAll(explicit, 0o700)
	}
	dir, isExplicit = Path(env, explicit, uid)
	if !isExplicit {
		err = prepareDefault(dir, uid)
	}
	if err != nil {
		return dir, isExplicit, fmt.Errorf("cannot use state directory %s: %w", dir, err)
	}
	return dir, isExplicit, nil
}

func prepareDefault(dir string, uid int) error {
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	d, err := openDir(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	var stat unix.Stat_t
	if err := unix.Fstat(int(d.Fd()), &stat); err != nil {
		return err
	}
	if int64(stat.Uid) != int64(uid) {
		return fmt.Errorf("it belongs to user %d, not to user %d", stat.Uid, uid)
	}
	if stat.Mode&0o077 != 0 {
		return d.Chmod(0o700) // ours, but open to others
	}
	return nil
}

// openDir opens a directory and refuses a symbolic link in its place.
func openDir(dir string) (*os.File, error) {
	fd, err := retry(func() (int, error) {
		return unix.Open(dir, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	})
	if err != nil {
		if target, linkErr := os.Readlink(dir); linkErr == nil {
			return nil, fmt.Errorf("it is a symbolic link to %s", target)
		}
		return nil, err
	}
	return os.NewFile(uintptr(fd), dir), nil
}

// retry repeats a system call that a signal interrupted.
func retry[T any](call func() (T, error)) (T, error) {
	for {
		v, err := call()
		if !errors.Is(err, unix.EINTR) {
			return v, err
		}
	}
}
