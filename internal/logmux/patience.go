package logmux

import (
	"sync"
	"time"
)

// recovery is the part of its time that a rank may lose to a slow console in the long
// run: a tenth.
const recovery = 10

// patience says how long a console may still hold ranks whose bytes are safe in a
// file. All streams of a console share it, because while one waits the others may have
// to. It is a bucket of time: waiting fills it, ten times as long empties it. So a
// console that has stopped holds a rank once, for most, and one that is merely slow
// takes at most a tenth of a rank's time after that.
type patience struct {
	mu   sync.Mutex
	most time.Duration // 0: it is not asked
	debt time.Duration
	at   time.Time // when debt was right
}

// left is how long the console may be waited for now.
func (p *patience) left(now time.Time) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.settle(now)
	return p.most - p.debt
}

// spent takes note of a wait that ends now.
func (p *patience) spent(now time.Time, wait time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.settle(now)
	p.debt = min(p.debt+wait, p.most)
}

func (p *patience) settle(now time.Time) {
	if !p.at.IsZero() {
		p.debt = max(0, p.debt-now.Sub(p.at)/recovery)
	}
	p.at = now
}
