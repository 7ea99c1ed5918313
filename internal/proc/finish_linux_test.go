package proc

import (
	"errors"
	"os"
	"os/exec"
	"slices"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// ended waits until a child is a zombie, without looking at its finish.
func ended(t *testing.T, c *Child) {
	t.Helper()
	for {
		err := unix.Waitid(unix.P_PID, c.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if err == nil {
			return
		}
		if !errors.Is(err, unix.EINTR) {
			t.Fatal(err)
		}
	}
}

// Children that ended one after the other have times in that order, though nobody
// looked until all had ended, and the waiters ask in another order.
func TestFinishKeepsTheOrder(t *testing.T) {
	s := spawner(t)
	const n = 100
	var children []*Child
	var gates []*os.File
	for range n {
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		c, err := s.Start(&exec.Cmd{Path: "/bin/cat", Args: []string{"cat"}, Stdin: r})
		r.Close()
		if err != nil {
			t.Fatal(err)
		}
		children, gates = append(children, c), append(gates, w)
	}
	order := slices.Clone(children)
	for i := range n {
		at := (i * 37) % n // every number once
		gates[at].Close()
		ended(t, children[at])
		order[i] = children[at]
	}
	for _, c := range slices.Backward(children) {
		if _, err := c.Wait(); err != nil {
			t.Fatal(err)
		}
	}
	for i, c := range order {
		if i > 0 && !c.At().After(order[i-1].At()) {
			t.Errorf("child %d ended after child %d, and has the time %v after it", i, i-1, c.At().Sub(order[i-1].At()))
		}
		c.Reap()
	}
}

// Without an epoll a child ends when it is looked at.
func TestFinishWithoutEpoll(t *testing.T) {
	f := &finish{poll: -1, at: map[int]time.Time{}}
	f.enter(7)
	before := time.Now()
	first, second := f.time(7), f.time(8)
	if first.Before(before) || !second.After(first) {
		t.Errorf("%v, %v, %v", before, first, second)
	}
	f.close()
}
