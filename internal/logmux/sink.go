package logmux

import (
	"bytes"
	"errors"
	"io"
	"os"
	"sync/atomic"
	"syscall"
	"time"
)

// Sink is a console that several streams share. The zero value is not usable: see
// Options.Sinks.
type Sink struct {
	c     *console // shared by sinks that end in the same file
	w     io.Writer
	color bool
	gone  atomic.Pointer[error]
	lost  func(error)
}

// Options say what the consoles of a run are like. The zero value is for consoles that
// are never taken for a terminal.
type Options struct {
	// Env is the environment, for TERM and NO_COLOR. nil: no terminal is looked for.
	Env map[string]string
	// KeepCR shows all states of a progress bar, each as a piece of its line.
	KeepCR bool
	// Lost is called once for each console that stops taking output, with its name,
	// stdout or stderr, and the cause. nil: it is dropped silently.
	Lost func(name string, cause error)
}

// NewSink makes a Sink of w, which is not taken for a terminal. lost is called once,
// with the cause, when w stops taking output (nil: silently dropped).
func NewSink(w io.Writer, lost func(error)) *Sink {
	return &Sink{c: newConsole(w, policy{}), w: w, lost: lost}
}

// NewSinks is Options.Sinks with nothing but Lost.
func NewSinks(out, err io.Writer, lost func(name string, cause error)) (*Sink, *Sink) {
	return Options{Lost: lost}.Sinks(out, err)
}

// Sinks makes the two sinks of standard output and standard error. Where both are the
// same file (a terminal, `2>&1`) they take turns as one: two writes to one pipe through
// two descriptors can mix when they are larger than the kernel's atomic size, and there
// is only one last line of a terminal.
func (o Options) Sinks(out, err io.Writer) (*Sink, *Sink) {
	a, b := o.sink("stdout", out), o.sink("stderr", err)
	if sameFile(out, err) {
		b.c = a.c
	}
	return a, b
}

func (o Options) sink(name string, w io.Writer) *Sink {
	p := policy{keepCR: o.KeepCR}
	if o.Env != nil {
		p.live = isTerminal(w)
	}
	p.inPlace = p.live && smart(o.Env) && !o.KeepCR
	s := &Sink{c: newConsole(w, p), w: w, color: p.live && Colored(o.Env)}
	if o.Lost != nil {
		s.lost = func(cause error) { o.Lost(name, cause) }
	}
	return s
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

// Write passes whole lines on in one write, or drops them once the console has gone:
// the caller's job goes on, so it is never told of an error. It waits for as long as
// the console takes.
func (s *Sink) Write(p []byte) (int, error) {
	if s.Gone() == nil {
		b := batch{text: p, open: !bytes.HasSuffix(p, []byte{'\n'})}
		s.c.enter(forever)
		s.put(s.c.compose(time.Now(), foreign{}, "", "", &b))
	}
	return len(p), nil
}

// Gone is why the console was dropped, nil while it takes output.
func (s *Sink) Gone() error {
	if err := s.gone.Load(); err != nil {
		return *err
	}
	return nil
}

// put writes text and ends the turn, which the caller has.
func (s *Sink) put(text []byte) {
	var err error
	if len(text) > 0 && s.Gone() == nil {
		s.c.began(time.Now())
		if err = writeAll(s.w, text); err != nil {
			s.gone.Store(&err)
		}
		s.c.wrote()
	}
	s.c.leave(s)
	// After the turn: lost may log to the other sink, which may share it.
	if err != nil && s.lost != nil {
		s.lost(err)
	}
}

// writeAll writes all of text. Whoever shares the console may have made it non-blocking
// (ssh and node do): then "try again" is no reason to give it up.
func writeAll(w io.Writer, text []byte) error {
	for {
		n, err := w.Write(text)
		if !errors.Is(err, syscall.EAGAIN) || !awaitWritable(w) {
			return err
		}
		text = text[n:]
	}
}
