package ledger

import (
	"errors"
	"fmt"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// FileError says that a ledger file cannot be used as it is. The file is left
// as it was found.
type FileError struct {
	File    string
	Problem error
}

func (e *FileError) Error() string {
	return fmt.Sprintf("cannot use ledger %s: %v: nothing was changed; repair it, or move it away and the job's count starts anew", e.File, e.Problem)
}

func (e *FileError) Unwrap() error { return e.Problem }

// openAt opens a file of the directory without following a link and without
// waiting for the other end of a pipe that somebody may have put there.
func openAt(dir *os.File, file string, flags int) (*os.File, error) {
	fd, err := retry(func() (int, error) {
		return unix.Openat(int(dir.Fd()), file, flags|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0o600)
	})
	if errors.Is(err, unix.ELOOP) {
		return nil, errors.New("it is a symbolic link")
	}
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: dir.Name() + "/" + file, Err: err}
	}
	return os.NewFile(uintptr(fd), dir.Name()+"/"+file), nil
}

// checkOwn makes sure that an open file is one that we could have written.
func checkOwn(f *os.File) (size int64, err error) {
	var stat unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &stat); err != nil {
		return 0, err
	}
	if stat.Mode&unix.S_IFMT != unix.S_IFREG {
		return 0, errors.New("it is not a regular file")
	}
	if int64(stat.Uid) != int64(os.Geteuid()) {
		return 0, fmt.Errorf("it belongs to user %d, not to user %d", stat.Uid, os.Geteuid())
	}
	return stat.Size, nil
}

// load reads the history. A file that is not there is an empty history; one
// that is there and cannot be understood is a [*FileError].
func (l *Ledger) load(dir *os.File) (History, error) {
	f, err := openAt(dir, l.file, unix.O_RDONLY)
	if errors.Is(err, unix.ENOENT) {
		return History{}, nil
	}
	if err != nil {
		return History{}, &FileError{File: l.path(), Problem: err}
	}
	defer f.Close()
	size, err := checkOwn(f)
	if err == nil && size > maxSize {
		err = fmt.Errorf("it has %d bytes, more than any ledger", size)
	}
	var h History
	if err == nil {
		var text []byte
		text, err = io.ReadAll(io.LimitReader(f, maxSize))
		if err == nil {
			h, err = decode(l.name, text)
		}
	}
	if err != nil {
		return History{}, &FileError{File: l.path(), Problem: err}
	}
	return h, nil
}

// store replaces the file. Whenever the machine stops, the name stands for the
// old content or for the new, and after the last step for the new. A temporary
// file that a crash left behind is removed by the next writer: only one holds
// the lock, so the name is fixed and leftovers do not pile up.
func (l *Ledger) store(dir *os.File, h History) error {
	text, err := encode(l.name, h)
	if err == nil && len(text) > maxSize {
		err = fmt.Errorf("it would have %d bytes", len(text))
	}
	if err == nil {
		err = l.replace(dir, text)
	}
	if err != nil {
		return fmt.Errorf("cannot write ledger %s: %w", l.path(), err)
	}
	return nil
}

func (l *Ledger) replace(dir *os.File, text []byte) error {
	temp := l.file + ".tmp"
	if err := unix.Unlinkat(int(dir.Fd()), temp, 0); err != nil && !errors.Is(err, unix.ENOENT) {
		return err
	}
	f, err := openAt(dir, temp, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL)
	if err != nil {
		return err
	}
	l.step("created")
	_, err = f.Write(text)
	l.step("written")
	if err == nil {
		err = f.Sync()
	}
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	l.step("synced")
	if err == nil {
		err = unix.Renameat(int(dir.Fd()), temp, int(dir.Fd()), l.file)
	}
	l.step("renamed")
	if err != nil {
		_ = unix.Unlinkat(int(dir.Fd()), temp, 0) // a full disk must not stay full for it
		return err
	}
	err = dir.Sync()
	l.step("done")
	if errors.Is(err, unix.EINVAL) {
		return nil // a file system that keeps its directories without being asked
	}
	return err
}
