package otlpfile

import (
	"bytes"
	"errors"
	"io"
	"os"
	"syscall"
	"time"
)

// shared is a file that processes append to in turn. The lock is held for one line.
type shared struct{ *os.File }

func (s shared) begin() (size int64, err error) {
	if err := lock(s.File, lockPatience); err != nil {
		return 0, err
	}
	info, err := s.Stat()
	if err == nil && removed(info) {
		err = errRemoved
	}
	if err != nil {
		s.end()
		return 0, err
	}
	return info.Size(), nil
}

// errRemoved says that nobody would find what is written.
var errRemoved = errors.New("it has been removed")

func removed(info os.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && st.Nlink == 0
}

// end gives the file to others. That cannot fail with a lock that is held.
func (s shared) end() { _ = syscall.Flock(int(s.Fd()), syscall.LOCK_UN) }

// Bounds of waiting for a turn. Others have theirs for one write; who keeps it is stopped,
// or no writer of ours, and a job does not wait for such a process.
const (
	lockPatience = time.Second
	lockAgain    = 5 * time.Millisecond
)

var errLocked = errors.New("another process keeps it locked")

// lock waits for its turn. A file system without locks has no turns: there, one process
// at a time has to do.
func lock(f *os.File, most time.Duration) error {
	for began := time.Now(); ; {
		switch err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); {
		case errors.Is(err, syscall.EINTR):
		case errors.Is(err, syscall.EWOULDBLOCK):
			if time.Since(began) > most {
				return errLocked
			}
			<-time.After(lockAgain)
		case errors.Is(err, syscall.ENOLCK), errors.Is(err, syscall.ENOSYS), errors.Is(err, syscall.ENOTSUP), errors.Is(err, syscall.EINVAL):
			return nil
		default:
			return err
		}
	}
}

// open opens the file for appending, and cuts off the rest of a line at its end.
func open(path string) (output, error) {
	// Without O_NONBLOCK a pipe of that name would hold the caller.
	const flags = os.O_RDWR | os.O_APPEND | os.O_CREATE | syscall.O_NOFOLLOW | syscall.O_NONBLOCK
	f, err := os.OpenFile(path, flags, 0o600)
	if errors.Is(err, syscall.ELOOP) {
		return nil, errors.New("it is a symbolic link")
	}
	if err != nil {
		return nil, cause(err)
	}
	if err = prepare(shared{f}); err != nil {
		return nil, errors.Join(cause(err), f.Close())
	}
	return shared{f}, nil
}

// cause leaves the path to the caller, who has said it.
func cause(err error) error {
	var path *os.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	return err
}

func prepare(f shared) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return errors.New("it is no file")
	}
	size, err := f.begin()
	if err != nil {
		return err
	}
	defer f.end()
	if err := foreign(f, size); err != nil {
		return err
	}
	if info.Mode().Perm() != 0o600 { // the umask, or a file of another program
		if err := f.Chmod(0o600); err != nil {
			return err
		}
	}
	whole, err := wholeLines(f, size)
	if err != nil || whole == size {
		return err
	}
	return f.Truncate(whole)
}

// errForeign keeps a mistyped name from costing the file of that name: its end would be
// cut off, and only its owner could read it afterwards.
var errForeign = errors.New("it holds something else than OTLP/JSON, and is left as it is")

// foreign refuses a file that does not begin as OTLP/JSON does. The first line may have
// been cut off after any byte.
func foreign(f io.ReaderAt, size int64) error {
	for _, signal := range []string{"Spans", "Metrics", "Logs"} {
		begin := []byte(`{"resource` + signal + `":`)
		head := make([]byte, min(size, int64(len(begin))))
		if _, err := f.ReadAt(head, 0); err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		if bytes.HasPrefix(begin, head) {
			return nil
		}
	}
	return errForeign
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
