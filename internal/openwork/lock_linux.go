package openwork

import (
	"context"
	"errors"
	"fmt"
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
	folder := journal.Folder(dir)
	if err := os.Mkdir(folder, 0o700); err != nil && !errors.Is(err, os.ErrExist) {
		return nil, fmt.Errorf("cannot make the folder of journals: %w", err)
	}
	f, err := os.OpenFile(filepath.Join(folder, lockName), os.O_RDWR|os.O_CREATE|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0o600)
	if err != nil {
		return nil, fmt.Errorf("cannot lock the journals: %w", err)
	}
	switch err := flock(f); {
	case err == nil:
		return f, nil
	case errors.Is(err, unix.EWOULDBLOCK):
		f.Close()
		return nil, ErrHeld
	default:
		f.Close()
		return nil, fmt.Errorf("cannot lock the journals: %w", err)
	}
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
