package rundir

import (
	"crypto/rand"
	"errors"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// heldName is the file that stands for the lock where there is no flock: it is held
// as long as the file is there.
const heldName = "run.lock.held"

// acquireFile makes the file, or takes over that of a launcher that is gone.
func acquireFile(dir folder, me holder, sys system) (*lock, error) {
	for {
		f, err := dir.create(heldName, unix.O_RDWR)
		if err == nil {
			return ownFile(dir, f, me)
		}
		if !errors.Is(err, unix.EEXIST) {
			return nil, err
		}
		other, err := readHeld(dir)
		if errors.Is(err, unix.ENOENT) {
			continue // it has just ended
		}
		if err != nil {
			return nil, err
		}
		if !other.dead() {
			return nil, &HeldError{Dir: dir.Name(), Pid: other.Pid, Host: other.Host, File: dir.path(heldName), Silent: other.silent}
		}
		if err := removeDead(dir, other); err != nil {
			return nil, err
		}
		sys.step("removed")
	}
}

func ownFile(dir folder, f *os.File, me holder) (*lock, error) {
	if err := me.write(f); err != nil {
		// Nobody could tell whose it is, or that we are gone.
		_ = dir.remove(heldName)
		f.Close()
		return nil, err
	}
	return newLock(dir, f, heldName, func() {
		if dir.named(heldName, f) {
			_ = dir.remove(heldName)
		}
	}), nil
}

// other is somebody else's lock file.
type other struct {
	holder
	known  bool        // the file says whose it is
	info   os.FileInfo // which file it was
	silent time.Duration
}

// readHeld reads the lock file.
func readHeld(dir folder) (other, error) {
	f, err := dir.open(heldName, unix.O_RDONLY)
	if err != nil {
		return other{}, err
	}
	defer f.Close()
	var o other
	if o.info, err = f.Stat(); err != nil {
		return other{}, err
	}
	if o.silent, err = age(dir, f); err != nil {
		return other{}, err
	}
	o.holder, o.known = readHolder(f)
	return o, nil
}

// age is how long ago a file was touched, by the clock of the file system: that of
// another machine may differ from ours.
func age(dir folder, f *os.File) (time.Duration, error) {
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	now, err := clock(dir)
	return max(0, now.Sub(info.ModTime())), err
}

// clock is the time of a file that we make.
func clock(dir folder) (time.Time, error) {
	name := ".clock-" + rand.Text()
	f, err := dir.create(name, unix.O_WRONLY)
	if err != nil {
		return time.Time{}, err
	}
	defer f.Close()
	defer func() { _ = dir.remove(name) }()
	info, err := f.Stat()
	if err != nil {
		return time.Time{}, err
	}
	return info.ModTime(), nil
}

// dead reports whether the owner is gone: its process, where we can ask for it, else
// it has been silent for long. A file that says nothing was made in a crash.
func (o other) dead() bool {
	if o.known {
		switch o.State() {
		case OutcomeRunning:
			return false
		case OutcomeUnknown:
			return true
		}
	}
	return o.silent >= deadAfter
}

// takeName guards the removal of a dead launcher's file: two that did so at once could
// take away each other's new one.
const takeName = "run.lock.take"

// removeDead removes a dead launcher's file, if it is still that.
func removeDead(dir folder, dead other) error {
	guard, err := dir.create(takeName, unix.O_WRONLY)
	if errors.Is(err, unix.EEXIST) {
		return beingTaken(dir)
	}
	if err != nil {
		return err
	}
	defer func() { _ = dir.remove(takeName) }()
	defer guard.Close()
	now, err := readHeld(dir)
	switch {
	case errors.Is(err, unix.ENOENT):
		return nil
	case err != nil:
		return err
	case !os.SameFile(now.info, dead.info) || !now.info.ModTime().Equal(dead.info.ModTime()):
		return nil // a number of a file may come again, but not with the same time
	}
	return dir.remove(heldName)
}

// beingTaken is for those who come while another one removes the file. A guard that
// stays was left by a crash.
func beingTaken(dir folder) error {
	f, err := dir.open(takeName, unix.O_RDONLY)
	if errors.Is(err, unix.ENOENT) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	silent, err := age(dir, f)
	if err != nil {
		return err
	}
	if silent >= deadAfter {
		return dir.remove(takeName)
	}
	return &HeldError{Dir: dir.Name(), File: dir.path(takeName), Silent: silent}
}
