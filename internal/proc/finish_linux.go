package proc

import (
	"errors"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// finish tells in which order children ended. On a busy machine this process may look
// long after several have: the kernel queues the events of an epoll in their order,
// while the goroutines that wait for the children run in any.
type finish struct {
	poll int // epoll descriptor, -1: the order is not known

	mu   sync.Mutex
	last time.Time
	at   map[int]time.Time // by pidfd, seen and not yet asked for
}

// newFinish never fails: without a descriptor children end when their waiters see it.
func newFinish() *finish {
	f := &finish{poll: -1, at: map[int]time.Time{}}
	if fd, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC); err == nil {
		f.poll = fd
	}
	return f
}

// enter adds a child before anybody waits for it. Closing its pidfd takes it out.
func (f *finish) enter(pidfd int) {
	if f.poll < 0 {
		return
	}
	// Edges: what was reported once is not queued again, which would mix the order.
	event := unix.EpollEvent{Events: unix.EPOLLIN | unix.EPOLLET, Fd: int32(pidfd)}
	_ = unix.EpollCtl(f.poll, unix.EPOLL_CTL_ADD, pidfd, &event) // time does without
}

// time is when a child whose pidfd is readable was seen to have ended. Of children
// that were seen at one look, the one that ended first has the earlier time, by at
// least a nanosecond.
func (f *finish) time(pidfd int) time.Time {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.look()
	at, seen := f.at[pidfd]
	if !seen {
		return f.next()
	}
	delete(f.at, pidfd)
	return at
}

// look takes all events that there are.
func (f *finish) look() {
	var events [64]unix.EpollEvent
	for f.poll >= 0 {
		n, err := unix.EpollWait(f.poll, events[:], 0)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		for _, e := range events[:max(n, 0)] {
			f.at[int(e.Fd)] = f.next()
		}
		if n < len(events) {
			return
		}
	}
}

// next is the time now, and later than every one before.
func (f *finish) next() time.Time {
	now := time.Now()
	if !now.After(f.last) {
		now = f.last.Add(1)
	}
	f.last = now
	return now
}

func (f *finish) close() {
	if f.poll >= 0 {
		unix.Close(f.poll)
	}
}
