package journal

import (
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
)

// ErrFileSystem says that a directory lies on a file system where a mapped file is no
// safe place: a network file system could stall or kill the worker. The caller makes
// the journal below the temp directory instead.
var ErrFileSystem = errors.New("not a local file system that journals are kept on (tmpfs, ext4, xfs, overlay, btrfs)")

// Path is where the journal of a rank lies below a directory.
func Path(dir string, attempt, rank int) string {
	return filepath.Join(append([]string{dir}, place(attempt, rank)...)...)
}

func place(attempt, rank int) []string {
	return []string{"journal", "attempt-" + strconv.Itoa(attempt), "rank-" + strconv.Itoa(rank) + ".spans"}
}

// Create makes the journal of one rank below dir, which must exist, and returns its
// path, which is [Path]'s. All its space is allocated: a full file system is an error
// here and no SIGBUS later. Directories get mode 0700 and the file 0600; what is there
// already is never taken over, and no symbolic link below dir is followed. The error is
// ErrFileSystem if dir is on another kind of file system.
func Create(dir string, h Header) (string, error) {
	path := Path(dir, h.Attempt, h.Rank)
	h, err := h.checked()
	if err == nil {
		err = create(dir, place(h.Attempt, h.Rank), h.encode(), size(h.Slots))
	}
	if err != nil {
		return "", fmt.Errorf("cannot create journal %s: %w", path, err)
	}
	return path, nil
}
