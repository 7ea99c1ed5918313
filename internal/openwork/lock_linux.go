package openwork

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"lenslaunch/journal"
)

// ErrHeld says that another process works in the directory: a launcher, or whoever
// recovers what one has left.
var ErrHeld = errors.New("a launcher works there, or another process recovers what one has left")

// Lock takes a directory for this process, until the file is closed or the process ends.
// It makes the folder of journals where that is missing. Without waiting it is ErrHeld.
func Lock(dir string) (*os.File, error) {
	path := filepath.Join(journal.Folder(dir), lockName)
	for {
		if err := os.Mkdir(filepath.Dir(path), 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, fmt.Errorf("cannot make the folder of journals: %w", err)
		}
		f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0o600)
		if errors.Is(err, fs.ErrNotExist) {
			continue // the folder has just been removed by who held it
		}
		if err != nil {
			return nil, fmt.Errorf("cannot lock the journals: %w", err)
		}
		err = flock(f)
		if err == nil && isAt(f, path) {
			return f, nil
		}
		f.Close()
		switch {
		case errors.Is(err, unix.EWOULDBLOCK):
			return nil, ErrHeld
		case err != nil:
			return nil, fmt.Errorf("cannot lock the journals: %w", err)
		}
	}
}

// isAt reports whether the file is still what the path names. Whoever held the lock may
// have removed it with the folder: then it keeps nobody out any more.
func isAt(f *os.File, path string) bool {
	locked, err := f.Stat()
	named, missing := os.Lstat(path)
	return err == nil && missing == nil && os.SameFile(locked, named)
}

// flock tries to lock a file. Journals are on local file systems, where it works.
func flock(f *os.File) error {
	for {
		if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

// again is how often Await looks.
const again = 200 * time.Millisecond

// Await is Lock that waits until ctx is over.
func Await(ctx context.Context, dir string) (*os.File, error) {
	tick := time.NewTicker(again)
	defer tick.Stop()
	for {
		f, err := Lock(dir)
		if !errors.Is(err, ErrHeld) {
			return f, err
		}
		select {
		case <-ctx.Done():
			return nil, ErrHeld
		case <-tick.C:
		}
	}
}

// InUse reports whether a process, or a child of it, still has the journal mapped.
func InUse(path string) bool {
	f, err := os.OpenFile(path, os.O_RDWR|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return false // what it is, Look says
	}
	defer f.Close()
	return errors.Is(flock(f), unix.EWOULDBLOCK)
}
