package logmux

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Pulse tells whether a process writes, and whether it cannot because of us. One may
// serve several streams. A nil Pulse is told and says nothing.
type Pulse struct {
	last atomic.Int64 // nanoseconds after epoch
	held atomic.Int32

	mu      sync.Mutex
	streams []*copier
}

// epoch makes a monotonic reading fit an integer. It never changes.
var epoch = time.Now()

func (p *Pulse) beat() {
	if p != nil {
		p.last.Store(int64(time.Since(epoch)))
	}
}

func (p *Pulse) hold() {
	if p != nil {
		p.held.Add(1)
	}
}

func (p *Pulse) release() {
	if p != nil {
		p.held.Add(-1)
	}
}

// watch makes a stream one of those that Held asks.
func (p *Pulse) watch(c *copier) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.streams = append(p.streams, c)
}

// Last is when the process last wrote; false if it never has.
func (p *Pulse) Last() (time.Time, bool) {
	ns := p.last.Load()
	return epoch.Add(time.Duration(ns)), ns != 0
}

// Held reports whether a slow console holds the process now: a stream of it waits for
// the console, or has written what was not read yet.
func (p *Pulse) Held() bool {
	if p.held.Load() > 0 {
		return true
	}
	p.mu.Lock()
	streams := p.streams
	p.mu.Unlock()
	return slices.ContainsFunc(streams, func(c *copier) bool { return c.unread() })
}
