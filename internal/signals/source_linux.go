//go:build amd64 || arm64

package signals

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// The assembler reads pipe, the descriptor that it writes to, and otherwise, the handler
// that has a signal which pipe does not take. Both are set before handler is installed,
// and changed only when it is not.
var (
	//lint:ignore U1000 only the assembler does
	pipe      int32
	otherwise uintptr
)

// open keeps a second Source from taking pipe away from the first.
var open sync.Mutex

// address is where the assembler's handler is.
func address() uintptr

// Source receives signals, until Close.
type Source struct {
	read   *os.File
	before map[syscall.Signal]action
	close  sync.Once
}

// Take receives signals from now on, instead of the runtime's own handler, which gets
// them again after Close. Left as they are, and no error, are signals that the runtime
// does not handle now (signal.Notify was not called, or they are ignored) and those that
// it needs itself.
func Take(list ...syscall.Signal) (*Source, error) {
	if !open.TryLock() {
		return nil, errors.New("cannot take signals: somebody else does")
	}
	usual, err := runtimes()
	var fds [2]int
	if err == nil {
		err = unix.Pipe2(fds[:], unix.O_CLOEXEC|unix.O_NONBLOCK)
	}
	if err != nil {
		open.Unlock()
		return nil, fmt.Errorf("cannot take signals: %w", err)
	}
	pipe, otherwise = int32(fds[1]), usual
	s := &Source{read: os.NewFile(uintptr(fds[0]), "signals"), before: map[syscall.Signal]action{}}
	for _, sig := range list {
		if err := s.take(sig); err != nil {
			s.Close()
			return nil, fmt.Errorf("cannot take signals: %w", err)
		}
	}
	return s, nil
}

func (s *Source) take(sig syscall.Signal) error {
	if _, taken := s.before[sig]; taken || runtimeOwn(sig) {
		return nil
	}
	before, err := get(sig)
	if err != nil || before.handler != otherwise || before.flags&needed != needed {
		return err
	}
	ours := before
	ours.handler = address()
	if err := set(sig, ours); err != nil {
		return err
	}
	s.before[sig] = before
	return nil
}

// Next waits for a signal. The error is os.ErrClosed after Close.
func (s *Source) Next() (Signal, error) {
	var info [infoSize]byte
	if _, err := io.ReadFull(s.read, info[:]); err != nil {
		return Signal{}, err
	}
	sig := decode(info[:])
	if sig.Sender.Pid > 0 {
		// Its name only: its arguments may hold secrets.
		name, _ := os.ReadFile("/proc/" + strconv.Itoa(sig.Sender.Pid) + "/comm")
		sig.Sender.Command = strings.TrimSuffix(string(name), "\n")
	}
	return sig, nil
}

// Close gives the signals back. Next returns; what it has not returned yet is lost. The
// end that handler writes to stays open: it may be about to write, on another thread, and
// must not find another file there.
func (s *Source) Close() {
	s.close.Do(func() {
		for sig, before := range s.before {
			// What was there before can be set again.
			_ = set(sig, before)
		}
		s.read.Close()
		open.Unlock()
	})
}
