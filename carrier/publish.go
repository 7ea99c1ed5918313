package carrier

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"

	"go.opentelemetry.io/otel/attribute"
)

var (
	// ErrNested is returned by [Publish] and [Set] to a goroutine that is inside a
	// publication already: it would wait for itself. Nest with [Scope.Publish].
	ErrNested = errors.New("this goroutine is inside a publication; nest through its scope")
	// ErrScopeClosed is returned by a handle that is used after its scope ended.
	ErrScopeClosed = errors.New("the scope has ended")
	// ErrScopeBusy is returned by a handle while a scope that was opened through it
	// is still open, also when its own function returns before that one has ended.
	ErrScopeBusy = errors.New("an inner scope is still open")
)

// Set replaces the variable for good by exactly this list; it merges nothing. It
// takes its turn like a publication and waits, without a bound, while one is open
// on another goroutine, so that the end of that one cannot undo it; do not wait
// inside a publication for a goroutine that calls Set. On an error (ErrNested,
// *[TooLongError]) the environment is as it was.
func Set(list []attribute.KeyValue) ([]Warning, error) {
	return process.set(list)
}

// Publish replaces the variable by exactly this list while fn runs, and then
// restores the exact state before: unset stays unset, set but empty stays so.
// That holds also when fn returns an error (which Publish returns), panics, or
// ends its goroutine. Nothing inherited is kept implicitly.
//
// One publication is open at a time in the process. ctx bounds the waiting for
// the turn and nothing else; with one that is done already, fn does not run. The
// error then wraps [context.Cause]. A function that waits, inside the scope, for another goroutine that publishes too
// waits for its own end: such a goroutine needs the [Scope], or a ctx that ends.
//
// On an error before fn runs (ErrNested, *[TooLongError], ctx) the environment is
// as it was.
func Publish(ctx context.Context, list []attribute.KeyValue, fn func(*Scope) error) error {
	return process.publish(ctx, list, fn)
}

// environment is what a publisher changes; tests give it one that fails.
type environment interface {
	Lookup() (text string, set bool)
	Set(text string) error
	Unset() error
}

// processEnvironment is the real one.
type processEnvironment struct{}

func (processEnvironment) Lookup() (string, bool) { return os.LookupEnv(Variable) }
func (processEnvironment) Set(text string) error  { return os.Setenv(Variable, text) }
func (processEnvironment) Unset() error           { return os.Unsetenv(Variable) }

// process serializes the publications of this process. It is global because the
// environment is.
var process = newPublisher(processEnvironment{})

// A publisher hands out turns and keeps the open scopes.
type publisher struct {
	env environment
	// turn holds one token while a publication is open. A channel, not a mutex:
	// waiting for it can be given up.
	turn chan struct{}

	mu        sync.Mutex
	innermost *Scope // of the open scopes, nil without one
}

func newPublisher(env environment) *publisher {
	return &publisher{env: env, turn: make(chan struct{}, 1)}
}

func (p *publisher) set(list []attribute.KeyValue) ([]Warning, error) {
	pairs, warnings := encode(list)
	text, err := fit(pairs)
	if err == nil {
		err = p.take(context.Background())
	}
	if err != nil {
		return warnings, fmt.Errorf("cannot set %s: %w", Variable, err)
	}
	defer p.release()
	if err := p.env.Set(text); err != nil {
		return warnings, fmt.Errorf("cannot set %s: %w", Variable, err)
	}
	return warnings, nil
}

func (p *publisher) publish(ctx context.Context, list []attribute.KeyValue, fn func(*Scope) error) error {
	s, err := p.newScope(list)
	if err == nil {
		err = p.take(ctx)
	}
	if err != nil {
		return fmt.Errorf("cannot publish %s: %w", Variable, err)
	}
	return s.run(nil, fn)
}

// take waits for the turn. Scope.unwind or release gives it back.
func (p *publisher) take(ctx context.Context) error {
	if p.holds(goroutineID()) {
		return ErrNested
	}
	// A select between two ready cases is a throw of dice; a caller that is told to
	// stop must not start a worker on a lucky one.
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	select {
	case p.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("gave up waiting for another publication: %w", context.Cause(ctx))
	}
}

func (p *publisher) release() { <-p.turn }

// holds reports whether the goroutine runs the function of an open scope.
func (p *publisher) holds(goroutine uint64) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for s := p.innermost; s != nil; s = s.outer {
		if goroutine != 0 && s.goroutine == goroutine && !s.returned {
			return true
		}
	}
	return false
}
