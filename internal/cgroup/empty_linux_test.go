package cgroup

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime/pprof"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func TestEmpty(t *testing.T) {
	g := group(t)
	want := func(want bool) {
		t.Helper()
		if got, err := g.Empty(); got != want || err != nil {
			t.Errorf("Empty = %v, %v, want %v", got, err, want)
		}
	}
	want(true)
	sub, err := g.Sub("rank-0")
	if err != nil {
		t.Fatal(err)
	}
	defer sub.Close()
	_, all := start(t, sub, 1, "hang")
	want(false)
	if err := sub.Kill(); err != nil {
		t.Fatal(err)
	}
	waitEmpty(t, g)
	if !all[0].ended(wait) {
		t.Error("empty, but its process lives")
	}
	want(true) // its process is a zombie now: nobody has waited for it
	if err := g.Remove(); err != nil {
		t.Errorf("with a zombie: %v", err)
	}
	want(true) // removed
	waitEmpty(t, g)
}

// The end of the last process wakes the waiter; ends before the last do not.
func TestWaitEmptyGoesByEvents(t *testing.T) {
	g := group(t)
	_, first := start(t, g, 1, "hang")
	_, second := start(t, g, 1, "hang")
	done := make(chan error, 1)
	go func() { done <- g.WaitEmpty(t.Context()) }()
	for i, p := range [][]process{first, second} {
		select {
		case err := <-done:
			t.Fatalf("woken with %d of 2 gone: %v", i, err)
		default:
		}
		if err := unix.PidfdSendSignal(p[0].fd, syscall.SIGKILL, nil, 0); err != nil {
			t.Fatal(err)
		}
		if !p[0].ended(wait) {
			t.Fatal("not killed")
		}
	}
	select {
	case err := <-done:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(wait):
		t.Error("nobody woke the waiter")
	}
}

func TestWaitEmptyEndsWithItsContext(t *testing.T) {
	g := group(t)
	start(t, g, 1, "hang")
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- g.WaitEmpty(ctx) }()
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("WaitEmpty = %v", err)
	}
	timeout, cancelTimeout := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancelTimeout()
	if err := g.WaitEmpty(timeout); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("WaitEmpty = %v", err)
	}
	empty := group(t)
	if err := empty.WaitEmpty(ctx); err != nil {
		t.Errorf("what is empty already needs no time: %v", err)
	}
}

// Many waiters hold no threads.
func TestWaitEmptyHoldsNoThread(t *testing.T) {
	g := group(t)
	start(t, g, 1, "hang")
	const waiters = 100
	before := pprof.Lookup("threadcreate").Count()
	var all, parked sync.WaitGroup
	parked.Add(waiters)
	for range waiters {
		all.Go(func() {
			looks := 0
			err := g.await(t.Context(), func(events string) bool {
				if looks++; looks == 2 { // the second look is the last before it waits
					parked.Done()
				}
				return isEmpty(events)
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	parked.Wait()
	if made := pprof.Lookup("threadcreate").Count() - before; made > 20 {
		t.Errorf("%d waiters made %d threads", waiters, made)
	}
	if err := g.Kill(); err != nil {
		t.Fatal(err)
	}
	all.Wait()
}

// Groups below go first, and so do those that appear meanwhile.
func TestRemoveBottomUp(t *testing.T) {
	g := group(t)
	for i := range 3 {
		sub, err := g.Sub(strconv.Itoa(i))
		if err != nil {
			t.Fatal(err)
		}
		defer sub.Close()
		deep, err := sub.Sub("deep")
		if err != nil {
			t.Fatal(err)
		}
		defer deep.Close()
	}
	if err := g.Remove(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(g.Path()); !os.IsNotExist(err) {
		t.Errorf("it is still there: %v", err)
	}
	if err := g.Remove(); err != nil {
		t.Errorf("again: %v", err)
	}
}

// Removal right after the kill waits for the dying.
func TestRemoveWaitsForTheDying(t *testing.T) {
	for i := range 10 {
		g := group(t)
		sub, err := g.Sub(fmt.Sprintf("rank-%d", i))
		if err != nil {
			t.Fatal(err)
		}
		defer sub.Close()
		start(t, sub, 3, "grandchild")
		if err := g.Kill(); err != nil {
			t.Fatal(err)
		}
		if err := g.Remove(); err != nil {
			t.Fatal(err)
		}
	}
}

// What lives is named, and not killed by Remove.
func TestRemoveNamesWhoIsLeft(t *testing.T) {
	g := group(t)
	_, all := start(t, g, 1, "hang")
	err := g.Remove()
	if err == nil || !strings.Contains(err.Error(), fmt.Sprintf("still in it: pids [%d]", all[0].pid)) {
		t.Errorf("Remove = %v", err)
	}
	if all[0].ended(0) {
		t.Error("Remove killed it")
	}
}
