//go:build output

package output

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"lenslaunch/test/harness"
)

// console is where a job's output goes. open returns what the job writes to and what
// then reads it to the end.
type console struct {
	name  string
	open  func(t *testing.T) (w *os.File, r io.Reader)
	atEnd bool // it is read when the job is over
}

// consoles are those of the issue; the first two also stand a lot of output.
var consoles = []console{{"a pipe", openPipe, false}, {"a file", openFile, true}, {"a reader of 1 MB a second", openSlow, false}, {"a terminal", openTerminal, false}}

func openPipe(t *testing.T) (*os.File, io.Reader) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return w, r
}

func openFile(t *testing.T) (*os.File, io.Reader) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "console")
	w, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	r, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return w, r
}

func openSlow(t *testing.T) (*os.File, io.Reader) {
	t.Helper()
	w, r := openPipe(t)
	ticker := time.NewTicker(10 * time.Millisecond)
	t.Cleanup(ticker.Stop)
	return w, &slow{r, ticker.C}
}

// slow reads 1 MB a second.
type slow struct {
	r    io.Reader
	tick <-chan time.Time
}

func (s *slow) Read(p []byte) (int, error) {
	<-s.tick
	return s.r.Read(p[:min(len(p), 10_000)])
}

// openTerminal is a terminal that leaves bytes as they are.
func openTerminal(t *testing.T) (*os.File, io.Reader) {
	t.Helper()
	p := harness.OpenPTY(t)
	raw, err := p.Slave.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	var failed error
	err = raw.Control(func(fd uintptr) {
		modes, err := unix.IoctlGetTermios(int(fd), unix.TCGETS)
		if err == nil {
			modes.Oflag &^= unix.OPOST
			modes.Lflag &^= unix.ECHO
			err = unix.IoctlSetTermios(int(fd), unix.TCSETS, modes)
		}
		failed = err
	})
	if err := errors.Join(err, failed); err != nil {
		t.Fatal(err)
	}
	return p.Slave, hangup{p.Master}
}

// hangup takes the end of a terminal, which is an error, for the end of a file.
type hangup struct{ io.Reader }

func (h hangup) Read(p []byte) (int, error) {
	n, err := h.Reader.Read(p)
	if errors.Is(err, syscall.EIO) {
		err = io.EOF
	}
	return n, err
}

// result is all that a console got.
type result struct {
	text []byte
	err  error
}

// collect reads a console in the background.
func collect(r io.Reader) <-chan result {
	got := make(chan result, 1)
	go func() {
		text, err := io.ReadAll(r)
		got <- result{text, err}
	}()
	return got
}
