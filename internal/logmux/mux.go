package logmux

import (
	"os"
	"sync"
	"time"
)

// Mux runs the streams of one attempt.
type Mux struct {
	mu    sync.Mutex
	pipes []*os.File
	wg    sync.WaitGroup
	cut   int // streams that still had a writer when the drain ended
}

// Add reads pipe to its end, in a goroutine of its own, and closes it.
func (m *Mux) Add(pipe *os.File, s Stream) {
	m.mu.Lock()
	m.pipes = append(m.pipes, pipe)
	m.mu.Unlock()
	m.wg.Go(func() {
		defer pipe.Close()
		if err := s.Copy(pipe); err != nil {
			m.mu.Lock()
			m.cut++
			m.mu.Unlock()
		}
	})
}

// Drain waits until every stream has come to its end, for at most the given time:
// a process that outlived its rank may hold a pipe open for ever. It returns the
// number of streams that were cut off.
func (m *Mux) Drain(most time.Duration) int {
	m.mu.Lock()
	for _, p := range m.pipes {
		// An error means that the pipe is closed: its stream has ended.
		_ = p.SetReadDeadline(time.Now().Add(most))
	}
	m.mu.Unlock()
	m.wg.Wait()
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.cut
}
