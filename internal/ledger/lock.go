package ledger

import (
	"context"
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// locked runs fn with the directory open and the ledger's lock held. ctx
// bounds the waiting for the lock, not fn.
func (l *Ledger) locked(ctx context.Context, fn func(dir *os.File) error) error {
	dir, err := openDir(l.dir)
	if err != nil {
		return fmt.Errorf("cannot use state directory %s: %w", l.dir, err)
	}
	defer dir.Close()
	lock, err := l.acquire(ctx, dir)
	if err != nil {
		return fmt.Errorf("cannot lock ledger %s: %w", l.path(), err)
	}
	defer release(lock)
	return fn(dir)
}

// acquire returns the open lock file once its lock is ours. If the name stands
// for another file by then, whoever comes next would lock that one: again.
func (l *Ledger) acquire(ctx context.Context, dir *os.File) (*os.File, error) {
	for {
		lock, err := openAt(dir, l.file+".lock", unix.O_RDWR|unix.O_CREAT)
		if err != nil {
			return nil, err
		}
		if _, err = checkOwn(lock); err != nil {
			err = fmt.Errorf("%s: %w", lock.Name(), err)
		}
		if err != nil {
			lock.Close()
			return nil, err
		}
		if err := lockFile(ctx, lock); err != nil {
			return nil, err
		}
		if isNamed(dir, l.file+".lock", lock) {
			return lock, nil
		}
		release(lock)
	}
}

// lockFile waits for the lock. It closes the file if it returns an error.
//
// A waiting flock cannot be called back, so when ctx ends the waiting goroutine
// is left behind; it gives the lock back in the moment it gets it. The common
// case, a free lock, needs no goroutine.
func lockFile(ctx context.Context, f *os.File) error {
	err := flock(f, unix.LOCK_EX|unix.LOCK_NB)
	if !errors.Is(err, unix.EWOULDBLOCK) {
		if err != nil {
			f.Close()
		}
		return err
	}
	done := make(chan error)
	go func() {
		err := flock(f, unix.LOCK_EX)
		select {
		case done <- err:
		case <-ctx.Done():
			f.Close()
		}
	}()
	select {
	case err := <-done:
		if err != nil {
			f.Close()
		}
		return err
	case <-ctx.Done():
		return fmt.Errorf("another launcher of this job holds it: %w", context.Cause(ctx))
	}
}

func flock(f *os.File, how int) error {
	_, err := retry(func() (struct{}, error) { return struct{}{}, unix.Flock(int(f.Fd()), how) })
	return err
}

// release unlocks explicitly: a child that was forked in this moment holds a
// copy of the descriptor until it executes its program.
func release(f *os.File) {
	_ = flock(f, unix.LOCK_UN)
	f.Close()
}

// isNamed reports whether the name in the directory stands for the open file.
func isNamed(dir *os.File, file string, f *os.File) bool {
	var named, open unix.Stat_t
	if unix.Fstatat(int(dir.Fd()), file, &named, unix.AT_SYMLINK_NOFOLLOW) != nil || unix.Fstat(int(f.Fd()), &open) != nil {
		return false
	}
	return named.Dev == open.Dev && named.Ino == open.Ino
}
