package logmux

import (
	"os"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// readers read the pipes of all streams that share a console: a few goroutines for
// hundreds of pipes. A pipe that is ready wakes one of them, which has it for itself
// until it is armed again.
//
//	armed --ready--> busy --read, its process pauses--> armed
//	                 busy --read, its process goes on--> resting --1 ms--> armed
//	                 busy --end, or late and empty--> closed
//
// The pipes are in an epoll set of their own, with EPOLLONESHOT, and only the set is in
// the runtime's poller: that one is woken by every write to a pipe, also while nobody
// wants to know, which costs a process that writes small pieces more than its writes.
type readers struct {
	mu      sync.Mutex
	set     *os.File // nil: no feeds
	feeds   map[int32]*feed
	token   int32
	resting []*feed
	timer   *time.Timer // ends the rest; nil: never needed
	ticking bool
	late    bool // what is in the pipes is read, nothing is waited for
}

// add begins to read a pipe, and reports whether it can: if not, nothing has happened.
// ended is called once, with what cut the stream off, nil at its end.
func (r *readers) add(pipe *os.File, c *copier, ended func(error)) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.set == nil && r.open() != nil {
		return false
	}
	fd, ok := own(pipe)
	if !ok {
		r.closeUnused()
		return false
	}
	r.token++
	f := &feed{token: r.token, fd: fd, c: c, ended: ended}
	r.feeds[f.token] = f
	c.unread = func() bool { return r.unread(f) }
	c.Pulse.watch(c)
	r.watch(f)
	return true
}

// work is one reader. It ends with the set.
func (r *readers) work(raw syscall.RawConn) {
	events := make([]unix.EpollEvent, 1)
	n := 0
	ready := func(fd uintptr) bool {
		// An error leaves n at -1: interrupted, which the next call is not.
		n, _ = unix.EpollWait(int(fd), events, 0)
		return n != 0
	}
	for raw.Read(ready) == nil {
		if n > 0 {
			if f := r.claim(events[0].Fd); f != nil {
				r.serve(f)
			}
		}
	}
}

// claim makes a feed busy; nil: somebody else has it.
func (r *readers) claim(token int32) *feed {
	r.mu.Lock()
	defer r.mu.Unlock()
	f := r.feeds[token]
	if f == nil || f.busy {
		return nil
	}
	f.busy = true
	return f
}

// serve reads a feed that is busy, until it is armed again, rests or has ended.
func (r *readers) serve(f *feed) {
	b := spare.Get().(*buffers)
	defer spare.Put(b)
	for {
		n, empty, err := f.read(b.in)
		switch {
		case empty && !r.isLate():
			r.pause(f, false)
			return
		case empty:
			err = os.ErrDeadlineExceeded
			fallthrough
		case n == 0:
			r.end(f, err)
			return
		}
		if n >= growAt {
			f.grow()
		}
		f.c.take(b, b.in[:n])
		if !r.isLate() {
			r.pause(f, n < growAt)
			return
		}
		if f.swept += n; f.swept > lastSweep {
			r.end(f, os.ErrDeadlineExceeded)
			return
		}
	}
}

func (r *readers) isLate() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.late
}

// cut ends every stream once what is in its pipe is read.
func (r *readers) cut() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.late = true
	var idle []*feed
	for _, f := range r.feeds {
		if !f.busy {
			f.busy = true
			idle = append(idle, f)
		}
	}
	if len(idle) > 0 {
		go func() {
			for _, f := range idle {
				r.serve(f)
			}
		}()
	}
}

// end closes a feed that is busy.
func (r *readers) end(f *feed, err error) {
	r.mu.Lock()
	f.close()
	delete(r.feeds, f.token)
	if len(r.feeds) == 0 {
		r.closeUnused()
		r.late = false
	}
	r.mu.Unlock()
	f.c.finish(func() { f.ended(err) })
}

// unread reports whether a feed has something that nobody reads yet.
func (r *readers) unread(f *feed) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.feeds[f.token] == f && !f.busy && f.unread()
}

// pending is how many bytes are in pipes that are not closed.
func (r *readers) pending() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := 0
	for _, f := range r.feeds {
		n += f.pending()
	}
	return n
}
