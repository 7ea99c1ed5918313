package rundir

import (
	"errors"

	"golang.org/x/sys/unix"
)

// replace puts new content in place of a file. Whenever the machine stops, the name
// stands for the old content or for the new, and after the last step for the new.
// Only the lock's holder calls it, so the temporary name is fixed, and what a crash
// left there goes with the next change.
func (d folder) replace(name string, text []byte, sys system) error {
	temp := "." + name + ".tmp"
	if err := d.remove(temp); err != nil {
		return err
	}
	f, err := d.create(temp, unix.O_WRONLY)
	if err != nil {
		return err
	}
	sys.step("created")
	_, err = sys.write(f, text)
	sys.step("written")
	if err == nil {
		err = f.Sync()
	}
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	sys.step("synced")
	if err == nil {
		err = d.rename(temp, name)
	}
	sys.step("renamed")
	if err != nil {
		_ = d.remove(temp) // a full disk must not stay full for it
		return err
	}
	err = d.Sync()
	sys.step("done")
	if errors.Is(err, unix.EINVAL) {
		return nil // a file system that keeps its directories without being asked
	}
	return err
}

// link makes a symbolic link stand for something else, atomically.
func (d folder) link(target, name string, sys system) error {
	temp := "." + name + ".tmp"
	if err := d.remove(temp); err != nil {
		return err
	}
	if err := unix.Symlinkat(target, d.fd(), temp); err != nil {
		return err
	}
	sys.step("linked")
	err := d.rename(temp, name)
	if err != nil {
		_ = d.remove(temp)
	}
	sys.step("latest")
	return err
}
