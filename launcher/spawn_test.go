package launcher

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"
	"testing"
)

// The limit that was reached is named, and the error is still the kernel's.
func TestShortage(t *testing.T) {
	for errno, want := range map[syscall.Errno]string{
		syscall.EAGAIN: "start: resource temporarily unavailable (no more processes: ulimit -u, or the limit of the container)",
		syscall.EMFILE: "start: too many open files (no more open files in this process: ulimit -n)",
		syscall.ENOENT: "start: no such file or directory",
	} {
		err := shortage(fmt.Errorf("start: %w", errno))
		if err.Error() != want || !errors.Is(err, errno) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	if err := shortage(fs.ErrNotExist); err != fs.ErrNotExist {
		t.Error(err)
	}
}
