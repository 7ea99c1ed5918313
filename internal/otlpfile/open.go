package otlpfile

import (
	"bytes"
	"errors"
	"io"
	"os"
	"syscall"
)

// open opens the file for appending and returns its size, without a rest of a line.
func open(path string) (f *os.File, size int64, err error) {
	// Without O_NONBLOCK a pipe of that name would hold the caller.
	const flags = os.O_RDWR | os.O_APPEND | os.O_CREATE | syscall.O_NOFOLLOW | syscall.O_NONBLOCK
	f, err = os.OpenFile(path, flags, 0o600)
	if errors.Is(err, syscall.ELOOP) {
		return nil, 0, errors.New("it is a symbolic link")
	}
	if err != nil {
		return nil, 0, cause(err)
	}
	size, err = prepare(f)
	if err != nil {
		return nil, 0, errors.Join(cause(err), f.Close())
	}
	return f, size, nil
}

// cause leaves the path to the caller, who has said it.
func cause(err error) error {
	var path *os.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	return err
}

func prepare(f *os.File) (size int64, err error) {
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	if !info.Mode().IsRegular() {
		return 0, errors.New("it is no file")
	}
	if info.Mode().Perm() != 0o600 { // the umask, or a file of another program
		if err := f.Chmod(0o600); err != nil {
			return 0, err
		}
	}
	whole, err := wholeLines(f, info.Size())
	if err != nil || whole == info.Size() {
		return whole, err
	}
	return whole, f.Truncate(whole)
}

// wholeLines is how much of the file ends with a line end, looking from the end.
func wholeLines(f io.ReaderAt, size int64) (int64, error) {
	chunk := make([]byte, 64<<10)
	for end := size; end > 0; {
		part := chunk[:min(end, int64(len(chunk)))]
		begin := end - int64(len(part))
		if _, err := f.ReadAt(part, begin); err != nil && !errors.Is(err, io.EOF) {
			return 0, err
		}
		if i := bytes.LastIndexByte(part, '\n'); i >= 0 {
			return begin + int64(i) + 1, nil
		}
		end = begin
	}
	return 0, nil
}
