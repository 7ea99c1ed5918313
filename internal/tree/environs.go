package tree

import (
	"time"

	"lenslaunch/internal/proc"
)

// environs reads environments of processes in a goroutine of its own. The kernel
// takes the memory lock of the process that is read: one that hangs in a driver and
// holds that lock would hold the reader as well (as it holds ps).
type environs struct {
	read  func(st proc.Stat, buf []byte) []byte
	limit time.Duration
	stuck map[proc.ID]bool // not read again
	ask   chan proc.Stat   // nil: no reader runs
	say   chan []byte
}

// A read takes some microseconds; this is for a machine under heavy load.
const environLimit = 250 * time.Millisecond

func newEnvirons(read func(proc.Stat, []byte) []byte) *environs {
	return &environs{read: read, limit: environLimit, stuck: map[proc.ID]bool{}}
}

// of returns the environment, valid until the next call; nil if it cannot be read.
func (e *environs) of(st proc.Stat) []byte {
	if e.stuck[st.ID] {
		return nil
	}
	if e.ask == nil {
		e.begin()
	}
	e.ask <- st
	timer := time.NewTimer(e.limit)
	defer timer.Stop()
	select {
	case text := <-e.say:
		return text
	case <-timer.C:
		e.stuck[st.ID] = true
		e.close()
		return nil
	}
}

// begin starts a reader. One that was abandoned ends when the kernel lets it go.
func (e *environs) begin() {
	// Room for an answer that nobody waits for any more.
	ask, say := make(chan proc.Stat), make(chan []byte, 1)
	e.ask, e.say = ask, say
	go func() {
		var buf []byte
		for st := range ask {
			buf = e.read(st, buf[:0])
			say <- buf
		}
	}()
}

func (e *environs) close() {
	if e.ask != nil {
		close(e.ask)
		e.ask = nil
	}
}
