package logmux

import (
	"io"
	"os"
	"sync"
)

// Sink is a console that several streams share. Writes are serialized; each is
// passed on as one Write. The zero value is not usable: see NewSink.
type Sink struct {
	mu   *sync.Mutex // shared by sinks that end in the same file
	w    io.Writer
	gone error
	lost func(error)
}

// NewSink makes a Sink of w. lost is called once, with the cause, when w stops
// taking output (nil: silently dropped).
func NewSink(w io.Writer, lost func(error)) *Sink {
	return &Sink{mu: new(sync.Mutex), w: w, lost: lost}
}

// NewSinks makes the two sinks of standard output and standard error. Where both
// are the same file (a terminal, `2>&1`) they take turns as one: two writes to one
// pipe through two descriptors can mix when they are larger than the kernel's
// atomic size.
func NewSinks(out, err io.Writer, lost func(name string, cause error)) (*Sink, *Sink) {
	report := func(name string) func(error) {
		if lost == nil {
			return nil
		}
		return func(cause error) { lost(name, cause) }
	}
	o, e := NewSink(out, report("stdout")), NewSink(err, report("stderr"))
	if sameFile(out, err) {
		e.mu = o.mu
	}
	return o, e
}

// sameFile reports whether two writers are descriptors of one file.
func sameFile(a, b io.Writer) bool {
	if a == b {
		return true
	}
	fa, okA := a.(*os.File)
	fb, okB := b.(*os.File)
	if !okA || !okB {
		return false
	}
	ia, errA := fa.Stat()
	ib, errB := fb.Stat()
	return errA == nil && errB == nil && os.SameFile(ia, ib)
}

// Write passes p on in one write, or drops it once the console has gone: the
// caller's job goes on, so it is never told of an error.
func (s *Sink) Write(p []byte) (int, error) {
	s.mu.Lock()
	if s.gone != nil {
		s.mu.Unlock()
		return len(p), nil
	}
	_, err := s.w.Write(p)
	s.gone = err
	s.mu.Unlock()
	// Outside the lock: lost may log to the other sink, which may share it.
	if err != nil && s.lost != nil {
		s.lost(err)
	}
	return len(p), nil
}

// Gone is why the console was dropped, nil while it takes output.
func (s *Sink) Gone() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.gone
}
