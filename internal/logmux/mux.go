package logmux

import (
	"os"
	"sync"
	"time"
)

// Mux runs the streams of one attempt. The zero value is ready for use.
type Mux struct {
	mu      sync.Mutex
	plain   []*os.File // pipes that have a goroutine of their own
	wg      sync.WaitGroup
	open    int // streams that have not ended
	cut     int // streams that still had a writer when the drain ended
	offices map[office]*staff
	room    room
}

// office is where the streams of one console are read. Those that the console may hold
// up for ever are read apart from those that it may not.
type office struct {
	console *console
	holds   time.Duration
}

// staff is who reads there.
type staff struct {
	readers  readers
	patience patience
}

// Add reads pipe to its end and closes it. The caller must not use it any more.
func (m *Mux) Add(pipe *os.File, s Stream) {
	m.mu.Lock()
	who := m.staff(s)
	m.open++
	m.wg.Add(1)
	m.mu.Unlock()
	c := s.copier(&who.patience, &m.room)
	if who.readers.add(pipe, c, m.ended) {
		return
	}
	m.mu.Lock()
	m.plain = append(m.plain, pipe)
	m.mu.Unlock()
	go func() {
		err := c.copy(pipe)
		pipe.Close()
		m.ended(err)
	}()
}

// staff finds who reads a stream.
func (m *Mux) staff(s Stream) *staff {
	o := office{holds: s.holds()}
	if s.To != nil {
		o.console = s.To.c
	}
	if m.offices[o] == nil {
		if m.offices == nil {
			m.offices = map[office]*staff{}
		}
		m.offices[o] = &staff{patience: patience{most: o.holds}}
	}
	return m.offices[o]
}

// ended takes note of the end of a stream.
func (m *Mux) ended(err error) {
	m.mu.Lock()
	m.open--
	if err != nil {
		m.cut++
	}
	m.mu.Unlock()
	m.wg.Done()
}

// afterDrain is for streams that are cut off to write what they have.
const afterDrain = 200 * time.Millisecond

// Drain waits until every stream has come to its end, for at most the given time:
// a process that outlived its rank may hold a pipe open for ever, and a console that
// nobody reads may hold the stream. What is in the pipes when the time is over is
// still read, as far as the console takes it. It returns the number of streams that
// were cut off.
func (m *Mux) Drain(most time.Duration) int {
	most = max(most, 0)
	ended := make(chan struct{})
	go func() {
		m.wg.Wait()
		close(ended)
	}()
	m.mu.Lock()
	for _, p := range m.plain {
		// An error means that the pipe is closed: its stream has ended.
		_ = p.SetReadDeadline(time.Now().Add(most))
	}
	m.mu.Unlock()
	if !within(ended, most) {
		m.mu.Lock()
		for _, who := range m.offices {
			who.readers.cut()
		}
		m.mu.Unlock()
		within(ended, afterDrain)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.cut + m.open
}

// within waits for an event, at most so long, and reports whether it came.
func within(event <-chan struct{}, most time.Duration) bool {
	timer := time.NewTimer(most)
	defer timer.Stop()
	select {
	case <-event:
		return true
	case <-timer.C:
		return false
	}
}

// Unread is how many bytes stand in the pipes of streams that have not ended: after a
// Drain, what no console will show.
func (m *Mux) Unread() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	n := 0
	for _, who := range m.offices {
		n += who.readers.pending()
	}
	return n
}
