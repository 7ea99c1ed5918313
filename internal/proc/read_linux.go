package proc

import (
	"errors"
	"os"
	"slices"

	"golang.org/x/sys/unix"
)

// readFile is os.ReadFile for the files of /proc, in four system calls instead of ten:
// some are read for every process that ends.
func readFile(path string) ([]byte, error) {
	fd, err := retry(func() (int, error) { return unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0) })
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: path, Err: err}
	}
	defer unix.Close(fd)
	text := make([]byte, 0, 1024)
	for {
		n, err := retry(func() (int, error) { return unix.Read(fd, text[len(text):cap(text)]) })
		if err != nil {
			return nil, &os.PathError{Op: "read", Path: path, Err: err}
		}
		if n == 0 {
			return text, nil
		}
		if text = text[:len(text)+n]; len(text) == cap(text) {
			text = slices.Grow(text, cap(text))
		}
	}
}

// retry repeats a system call that a signal has interrupted.
func retry(call func() (int, error)) (int, error) {
	for {
		if n, err := call(); !errors.Is(err, unix.EINTR) {
			return n, err
		}
	}
}
