package logmux

import (
	"sync/atomic"
	"time"
)

// Pulse tells whether a process writes, and whether it cannot because of us. One may
// serve several streams. A nil Pulse is told and says nothing.
type Pulse struct {
	last atomic.Int64 // nanoseconds after epoch
	held atomic.Int32
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

// Last is when the process last wrote; false if it never has.
func (p *Pulse) Last() (time.Time, bool) {
	ns := p.last.Load()
	return epoch.Add(time.Duration(ns)), ns != 0
}

// Held reports whether a slow console holds the process now.
func (p *Pulse) Held() bool { return p.held.Load() > 0 }
