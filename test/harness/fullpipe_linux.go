//go:build linux

package harness

import (
	"errors"
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

// FullPipe is a pipe that takes nothing more, and that nobody reads.
func FullPipe(t *testing.T) *os.File {
	t.Helper()
	var fds [2]int
	if err := unix.Pipe2(fds[:], unix.O_CLOEXEC|unix.O_NONBLOCK); err != nil {
		t.Fatal(err)
	}
	w := os.NewFile(uintptr(fds[1]), "full pipe")
	t.Cleanup(func() {
		w.Close()
		unix.Close(fds[0])
	})
	for {
		if _, err := unix.Write(fds[1], make([]byte, 4096)); errors.Is(err, unix.EAGAIN) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
	if err := unix.SetNonblock(fds[1], false); err != nil {
		t.Fatal(err)
	}
	return w
}
