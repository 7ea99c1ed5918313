//go:build faults && linux

package faults

import (
	"errors"
	"os"
	"strconv"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// fullPipe is a pipe that takes nothing more, and that nobody reads.
func fullPipe(t *testing.T) *os.File {
	t.Helper()
	var fds [2]int
	if err := unix.Pipe2(fds[:], unix.O_CLOEXEC|unix.O_NONBLOCK); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Close(fds[0]) })
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
	w := os.NewFile(uintptr(fds[1]), "full pipe")
	t.Cleanup(func() { w.Close() })
	return w
}

// A launcher whose stderr is a full pipe cannot say anything, and does its work all
// the same: told to end, it stops the job and ends, at the latest when its time to
// stop is over. (pytorch#76287 and others: the launcher waits for ever.)
func TestFullPipeOnStderr(t *testing.T) {
	for _, ranks := range []int{1, 2} {
		t.Run(strconv.Itoa(ranks), func(t *testing.T) {
			s := plainScene(t)
			s.ranks, s.stderr = ranks, fullPipe(t)
			s.begin(mustKind(t, "holds pipes"))
			s.signal(syscall.SIGTERM)
			s.requireEnd(143)
		})
	}
}

// The same for stdout, which the ranks' own lines fill.
func TestFullPipeOnStdout(t *testing.T) {
	s := plainScene(t)
	s.stdout = fullPipe(t)
	s.begin(mustKind(t, "holds pipes"))
	s.everyRank("print")
	s.signal(syscall.SIGTERM)
	s.requireEnd(143)
}
