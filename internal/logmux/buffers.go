package logmux

import (
	"sync"
	"sync/atomic"
)

// readSize is how much is read at once. It and the batch that is made of it fit the
// cache of one core.
const readSize = 128 << 10

// buffers are what is read, and the batch that is made of it. Nobody has them while
// there is nothing to read, so memory depends on the number of readers and not on that
// of streams.
type buffers struct{ in, out []byte }

// spare keeps buffers that nobody uses until the next collections.
var spare = sync.Pool{New: func() any { return &buffers{in: make([]byte, readSize)} }}

// grownPipes is how many pipes of a Mux may be larger than the kernel makes them. Their
// 16 MiB are a quarter of what an unprivileged user's pipes may have together, beyond
// which all new pipes of that user, in whatever process, hold only 8 KiB.
const grownPipes = 32

// room counts large pipes.
type room struct{ used atomic.Int32 }

func (r *room) take() bool {
	if r.used.Add(1) <= grownPipes {
		return true
	}
	r.used.Add(-1)
	return false
}

func (r *room) give() { r.used.Add(-1) }
