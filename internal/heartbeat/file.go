package heartbeat

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// File is a file that a worker touches to show that it goes on: by os.utime, by
// writing it, or by renaming another file over it.
type File struct{ path string }

// Create makes the heartbeat file of a rank in dir, which must be one that other users
// cannot write to. It fails if there is anything of that name, also a link to nowhere.
func Create(dir string, rank int) (File, error) {
	path := filepath.Join(dir, "heartbeat-"+strconv.Itoa(rank))
	// O_EXCL follows no link in the last place.
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err == nil {
		err = f.Close()
	}
	if err != nil {
		return File{}, fmt.Errorf("cannot create the heartbeat file: %w", err)
	}
	return File{path: path}, nil
}

// Path is the value of LENSLAUNCH_HEARTBEAT_FILE.
func (f File) Path() string { return f.path }

// Touched is the file's time of modification. The worker decides what it is, and on a
// network file system the server's clock does: only a change of it means something
// (see [Watch.Touched]). A file that the worker has removed or replaced by something
// that is no file is an error; it is no progress, and no reason to end the worker.
func (f File) Touched() (time.Time, error) {
	info, err := os.Lstat(f.path)
	if err != nil {
		return time.Time{}, fmt.Errorf("cannot look at the heartbeat file: %w", err)
	}
	if !info.Mode().IsRegular() {
		return time.Time{}, fmt.Errorf("cannot use the heartbeat file: %s is no regular file any more", f.path)
	}
	return info.ModTime(), nil
}

// Remove removes the file; it is no error if it has gone.
func (f File) Remove() error {
	if err := os.Remove(f.path); err != nil && !os.IsNotExist(err) {
		return fmt.Errorf("cannot remove the heartbeat file: %w", err)
	}
	return nil
}
