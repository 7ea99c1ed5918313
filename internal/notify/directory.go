package notify

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

const (
	// maxPath is the longest path of a socket in bytes: sun_path has 108 on Linux and
	// 104 on other systems, with a NUL at the end that some clients insist on.
	maxPath = 103

	// maxName is what Directory leaves for the name in it: enough for any rank.
	maxName = len("/rank-2147483647.sock")
)

// Directory makes a new directory for sockets that only this user can enter, with a
// path short enough for them, and returns its path. It is the caller's to remove.
//
// The temporary directory of a batch job often has a long path; then /tmp is used.
// XDG_RUNTIME_DIR is not: it vanishes at logout, under the feet of a job that was
// started with nohup.
func Directory() (string, error) {
	return directory(os.TempDir(), "/tmp", "/dev/shm")
}

func directory(parents ...string) (string, error) {
	var errs []error
	for _, parent := range parents {
		dir, err := os.MkdirTemp(parent, "lenslaunch-notify-") // mode 0700
		if err != nil {
			errs = append(errs, err)
			continue
		}
		if len(dir)+maxName > maxPath || !filepath.IsAbs(dir) {
			errs = append(errs, fmt.Errorf("the path of %s is unfit for a socket", parent), os.Remove(dir))
			continue
		}
		return dir, nil
	}
	return "", fmt.Errorf("cannot make a directory for notification sockets: %w", errors.Join(errs...))
}
