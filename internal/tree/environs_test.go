package tree

import (
	"sync/atomic"
	"testing"
	"time"

	"lenslaunch/internal/proc"
)

// Reading the environment of a process that hangs in the kernel hangs as well. It
// costs its time once; others are read meanwhile, and the reader ends when it can.
func TestEnvironThatHangs(t *testing.T) {
	stuck := proc.ID{Pid: 2, Start: 1}
	release, released := make(chan struct{}), make(chan struct{})
	var reads atomic.Int32 // of the one that hangs
	e := newEnvirons(func(st proc.Stat, buf []byte) []byte {
		if st.ID == stuck {
			reads.Add(1)
			<-release
			close(released)
		}
		return append(buf, st.Comm...)
	})
	e.limit = time.Millisecond
	defer e.close()

	of := func(id proc.ID, name string) string {
		limit := e.limit
		if id != stuck {
			e.limit = time.Minute // what does not hang may take its time here
		}
		defer func() { e.limit = limit }()
		return string(e.of(proc.Stat{ID: id, Comm: name}))
	}
	for range 3 {
		if got := of(proc.ID{Pid: 1, Start: 1}, "one"); got != "one" {
			t.Errorf("before: %q", got)
		}
		if got := of(stuck, "two"); got != "" {
			t.Errorf("the one that hangs: %q", got)
		}
		// Another process with its pid is read.
		if got := of(proc.ID{Pid: 2, Start: 2}, "other"); got != "other" {
			t.Errorf("after: %q", got)
		}
	}
	close(release)
	<-released
	if n := reads.Load(); n != 1 {
		t.Errorf("the one that hangs was read %d times", n)
	}
}

// A process without a mark is looked into once in a sweep.
func TestEnvironIsReadOnce(t *testing.T) {
	reads := 0
	s := &search{rank: whole, f: Finder{Mark: sample()}, plain: map[proc.ID]bool{}}
	s.env = newEnvirons(func(_ proc.Stat, buf []byte) []byte { reads++; return append(buf, "A=1\x00"...) })
	s.env.limit = time.Minute
	defer s.close()
	p := &pass{search: s}
	for range 3 {
		if p.carries(proc.Stat{ID: proc.ID{Pid: 1, Start: 1}}) {
			t.Error("a mark was seen")
		}
	}
	if reads != 1 {
		t.Errorf("read %d times", reads)
	}
}
