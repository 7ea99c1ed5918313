package journal

import (
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// ErrFileSystem says that a directory lies on a file system where a mapped file is no
// safe place: a network file system could stall or kill the worker. The caller makes
// the journal below the temp directory instead.
var ErrFileSystem = errors.New("not a local file system that journals are kept on (tmpfs, ext4, xfs, overlay, btrfs)")

// RankName is the name of a rank's journal for [Create] and [Path]. attempt is the name
// of the attempt, as its directory in a run directory has it: "attempt-2".
func RankName(attempt string, rank int) string {
	return attempt + "/rank-" + strconv.Itoa(rank) + suffix
}

// LauncherName is the name of the journal of a launcher's own spans. at tells launchers
// apart that had the same pid.
func LauncherName(pid int, at time.Time) string {
	return LauncherGroup + "/" + strconv.Itoa(pid) + "-" + strconv.FormatInt(at.UnixNano(), 36) + suffix
}

// Where journals lie below a directory.
const (
	folder        = "journal"
	suffix        = ".spans"
	LauncherGroup = "launcher" // in the place of an attempt: journals of launchers
)

// Path is where the journal of that name lies below a directory.
func Path(dir, name string) string { return filepath.Join(dir, folder, filepath.FromSlash(name)) }

// Folder is where all journals below a directory lie.
func Folder(dir string) string { return filepath.Join(dir, folder) }

// errName says that a name is none of [RankName] or [LauncherName].
var errName = errors.New("its name is not of the form GROUP/FILE" + suffix)

// place is the way to a journal of that name.
func place(name string) ([]string, error) {
	parts := strings.Split(name, "/")
	if len(parts) != 2 || !filepath.IsLocal(parts[0]) || !filepath.IsLocal(parts[1]) || !strings.HasSuffix(parts[1], suffix) {
		return nil, errName
	}
	return append([]string{folder}, parts...), nil
}

// Create makes the journal of that name below dir, which must exist, and returns its
// path, which is [Path]'s. All its space is allocated: a full file system is an error
// here and no SIGBUS later. Directories get mode 0700 and the file 0600; what is there
// already is never taken over, and no symbolic link below dir is followed. The error is
// ErrFileSystem if dir is on another kind of file system.
func Create(dir, name string, h Header) (string, error) {
	path := Path(dir, name)
	h, err := h.checked()
	if err != nil {
		return "", fmt.Errorf("cannot create journal %s: %w", path, err)
	}
	parts, err := place(name)
	if err == nil {
		err = create(dir, parts, h.encode(), size(h.Slots))
	}
	if err != nil {
		return "", fmt.Errorf("cannot create journal %s: %w", path, err)
	}
	return path, nil
}
