package carrier

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"go.opentelemetry.io/otel/attribute"
)

// A Scope is the handle of one publication, valid while its function runs. It
// may be used from any goroutine.
//
//	         open ── Publish ──> busy ── inner ends ──> open
//	          │                   │
//	fn returns│         fn returns│ (ErrScopeBusy)
//	          v                   v
//	       restored           returned ── inner ends ──> restored
//
// Scopes restore in reverse order, always. A scope whose function returns while
// an inner one is open on another goroutine therefore leaves the environment and
// the turn to that one: neither waits, and no child sees the wrong carrier.
type Scope struct {
	publisher *publisher
	text      string
	warnings  []Warning

	// All below is guarded by publisher.mu.
	outer     *Scope // nil for the outermost
	inner     *Scope // open, opened through this one
	goroutine uint64 // that runs the function
	returned  bool   // the function has returned; the handle is closed
	before    string // the variable when the scope was opened
	wasSet    bool   // whether it was set then
}

func (p *publisher) newScope(list []attribute.KeyValue) (*Scope, error) {
	pairs, warnings := encode(list)
	text, err := fit(pairs)
	if err != nil {
		return nil, err
	}
	return &Scope{publisher: p, text: text, warnings: warnings}, nil
}

// Publish opens a publication inside this one. It never waits: while another
// inner scope of this handle is open it returns ErrScopeBusy, after this scope's
// end ErrScopeClosed. Use the innermost handle.
func (s *Scope) Publish(list []attribute.KeyValue, fn func(*Scope) error) error {
	inner, err := s.publisher.newScope(list)
	if err != nil {
		return fmt.Errorf("cannot publish %s: %w", Variable, err)
	}
	return inner.run(s, fn)
}

// Warnings returns what was left out of this publication.
func (s *Scope) Warnings() []Warning { return slices.Clone(s.warnings) }

// Environ returns a copy of the process's environment for a child, in the form
// of [os.Environ]. It always holds this scope's carrier, also in the cases where
// the process's environment holds another (an inner scope is open, this one has
// ended): a child never gets a carrier that is not its own.
func (s *Scope) Environ() []string {
	const prefix = Variable + "="
	env := slices.DeleteFunc(os.Environ(), func(entry string) bool {
		return strings.HasPrefix(entry, prefix)
	})
	return append(env, prefix+s.text)
}

// run opens the scope, calls fn and ends the scope, however fn ends.
func (s *Scope) run(outer *Scope, fn func(*Scope) error) (err error) {
	if err := s.open(outer); err != nil {
		return fmt.Errorf("cannot publish %s: %w", Variable, err)
	}
	finished := false
	defer func() {
		switch endErr := s.end(); {
		case endErr == nil:
		case finished:
			err = errors.Join(err, endErr)
		case !errors.Is(endErr, ErrScopeBusy):
			// fn panicked, so no return value can carry this error, and a process
			// that goes on with a rank's carrier as its own must not do so
			// silently. The runtime prints both panics.
			panic(endErr)
		}
	}()
	err = fn(s)
	finished = true
	return err
}

// open installs the scope's text. The outermost scope holds the turn already.
func (s *Scope) open(outer *Scope) error {
	p := s.publisher
	p.mu.Lock()
	defer p.mu.Unlock()
	if outer != nil {
		if outer.returned {
			return ErrScopeClosed
		}
		if outer.inner != nil {
			return ErrScopeBusy
		}
	}
	s.before, s.wasSet = p.env.Lookup()
	if err := p.env.Set(s.text); err != nil {
		if outer == nil {
			p.release()
		}
		return err
	}
	s.outer, s.goroutine = outer, goroutineID()
	if outer != nil {
		outer.inner = s
	}
	p.innermost = s
	return nil
}

// end closes the handle and restores, unless an inner scope has to end first.
func (s *Scope) end() error {
	s.publisher.mu.Lock()
	defer s.publisher.mu.Unlock()
	s.returned = true
	if s.inner != nil {
		return fmt.Errorf("cannot restore %s yet: %w", Variable, ErrScopeBusy)
	}
	return s.unwind()
}

// unwind restores the innermost scope, and every outer one that waits for it.
// The turn is given back also if restoring fails: the error says so, and a
// process that stops publishing for good would say nothing.
func (s *Scope) unwind() error {
	p := s.publisher
	err := s.restore()
	p.innermost = s.outer
	if s.outer == nil {
		p.release()
		return err
	}
	s.outer.inner = nil
	if s.outer.returned {
		err = errors.Join(err, s.outer.unwind())
	}
	return err
}

func (s *Scope) restore() error {
	env := s.publisher.env
	restore := env.Unset
	if s.wasSet {
		restore = func() error { return env.Set(s.before) }
	}
	if err := restore(); err != nil {
		return fmt.Errorf("cannot restore %s: %w", Variable, err)
	}
	return nil
}
