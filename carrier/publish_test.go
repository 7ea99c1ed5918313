package carrier

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/otel/attribute"
	"go.uber.org/goleak"
)

// The exact state before comes back, however the function ends.
func TestPublishRestores(t *testing.T) {
	errRank := errors.New("rank failed")
	befores := map[string]*variable{
		"unset":      {},
		"set to ":    {set: true},
		"set to a=1": {text: "a=1", set: true},
	}
	endings := map[string]func() error{
		"return": func() error { return nil },
		"error":  func() error { return errRank },
		"panic":  func() error { panic("rank panicked") },
		"exit":   func() error { runtime.Goexit(); return nil },
	}
	for before, env := range befores {
		for ending, end := range endings {
			t.Run(before+" "+ending, func(t *testing.T) {
				p := newPublisher(env)
				var err error
				var panicked any
				var wg sync.WaitGroup
				wg.Go(func() { // a goroutine of its own, for Goexit to end
					defer func() { panicked = recover() }()
					err = p.publish(context.Background(), rank(3), func(*Scope) error {
						env.expect(t, "set to nv.dl.rank=3")
						return end()
					})
				})
				wg.Wait()
				env.expect(t, before)
				if ending == "error" && err != errRank {
					t.Errorf("Publish returned %v, want the function's own error", err)
				}
				if ending == "panic" && panicked != "rank panicked" {
					t.Errorf("the panic became %v", panicked)
				}
				p.expectFree(t)
			})
		}
	}
}

// A function that changes the variable itself does not change what is restored.
func TestPublishRestoresOverForeignChanges(t *testing.T) {
	env := &variable{}
	p := newPublisher(env)
	err := p.publish(context.Background(), rank(3), func(*Scope) error { return env.Set("other=1") })
	if err != nil {
		t.Error(err)
	}
	env.expect(t, "unset")
}

// Exactly the list: nothing inherited is kept, and nothing is an empty carrier,
// not an unset variable.
func TestPublishReplaces(t *testing.T) {
	env := &variable{text: "service.name=x", set: true}
	p := newPublisher(env)
	err := p.publish(context.Background(), nil, func(s *Scope) error {
		env.expect(t, "set to ")
		return s.Publish(rank(1), func(*Scope) error {
			env.expect(t, "set to nv.dl.rank=1")
			return nil
		})
	})
	if err != nil {
		t.Error(err)
	}
	env.expect(t, "set to service.name=x")
}

func TestPublishGivesWarningsToTheScope(t *testing.T) {
	p := newPublisher(&variable{})
	err := p.publish(context.Background(), []attribute.KeyValue{attribute.Int("a,b", 1)}, func(s *Scope) error {
		want := []Warning{{Key: "a,b", Reason: "the key holds ',' or '=', which the format cannot escape"}}
		if diff := cmp.Diff(want, s.Warnings()); diff != "" {
			t.Errorf("warnings (-want +got):\n%s", diff)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

func TestPublishWaitsForItsTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		env := &variable{}
		p := newPublisher(env)
		leave := make(chan struct{})
		second := make(chan error, 1)
		err := p.publish(t.Context(), rank(0), func(*Scope) error {
			ran := make(chan struct{})
			go func() {
				second <- p.publish(t.Context(), rank(1), func(*Scope) error {
					close(ran)
					env.expect(t, "set to nv.dl.rank=1")
					<-leave
					return nil
				})
			}()
			synctest.Wait() // the second goroutine can do nothing but wait now
			select {
			case <-ran:
				t.Error("two publications were open at once")
			default:
			}
			env.expect(t, "set to nv.dl.rank=0")
			return nil
		})
		if err != nil {
			t.Error(err)
		}
		close(leave)
		if err := <-second; err != nil {
			t.Error(err)
		}
		env.expect(t, "unset")
		p.expectFree(t)
	})
}

// The context ends the waiting, and only that.
func TestPublishGivesUpWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		env := &variable{}
		p := newPublisher(env)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		err := p.publish(ctx, rank(0), func(*Scope) error {
			second := make(chan error)
			go func() {
				second <- p.publish(ctx, rank(1), func(*Scope) error {
					t.Error("the function ran after its context ended")
					return nil
				})
			}()
			if err := <-second; !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("the second publication: %v, want the deadline", err)
			}
			env.expect(t, "set to nv.dl.rank=0")
			return nil
		})
		if err != nil {
			t.Errorf("the context ended a publication that was open: %v", err)
		}
		p.expectFree(t)
	})
}

func TestPublishWithAnEndedContext(t *testing.T) {
	env := &variable{}
	p := newPublisher(env)
	stop := errors.New("told to stop")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(stop)
	for range 100 { // a select would let about half of them through
		err := p.publish(ctx, rank(0), func(*Scope) error {
			t.Error("the function ran")
			return nil
		})
		if !errors.Is(err, stop) {
			t.Fatalf("error %v, want the cause", err)
		}
	}
	env.expect(t, "unset")
	p.expectFree(t)
}

// Without the handle, the goroutine of a scope gets an error at every depth; it
// would wait for itself.
func TestPublishRefusesToNestWithoutHandle(t *testing.T) {
	p := newPublisher(&variable{})
	try := func(where string) {
		t.Helper()
		err := p.publish(context.Background(), rank(1), func(*Scope) error {
			t.Errorf("%s: nested without a handle", where)
			return nil
		})
		if !errors.Is(err, ErrNested) {
			t.Errorf("%s: Publish returned %v", where, err)
		}
		if _, err := p.set(rank(1)); !errors.Is(err, ErrNested) {
			t.Errorf("%s: Set returned %v", where, err)
		}
	}
	err := p.publish(context.Background(), rank(0), func(s *Scope) error {
		try("in a scope")
		return s.Publish(rank(1), func(*Scope) error {
			try("in an inner scope")
			return nil
		})
	})
	if err != nil {
		t.Error(err)
	}
	// A handle that went to another goroutine: both are inside.
	err = p.publish(context.Background(), rank(0), func(s *Scope) error {
		inner := make(chan error)
		go func() {
			inner <- s.Publish(rank(1), func(*Scope) error {
				try("in an inner scope on another goroutine")
				return nil
			})
		}()
		return <-inner
	})
	if err != nil {
		t.Error(err)
	}
	p.expectFree(t)
}

func TestSetReplacesForGood(t *testing.T) {
	env := &variable{text: "service.name=x", set: true}
	p := newPublisher(env)
	warnings, err := p.set(append(rank(3), attribute.Int("", 1)))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]Warning{{Reason: "the key is empty"}}, warnings); diff != "" {
		t.Errorf("warnings (-want +got):\n%s", diff)
	}
	env.expect(t, "set to nv.dl.rank=3")
	p.expectFree(t)
	env.expect(t, "set to nv.dl.rank=3")
}

// A Set during somebody else's publication comes after it; at once, it would have
// been undone by the end of that publication.
func TestSetWaitsForAPublication(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		env := &variable{}
		p := newPublisher(env)
		done := make(chan error, 1)
		err := p.publish(t.Context(), rank(0), func(*Scope) error {
			go func() {
				_, err := p.set(rank(9))
				done <- err
			}()
			synctest.Wait()
			env.expect(t, "set to nv.dl.rank=0")
			return nil
		})
		if err := errors.Join(err, <-done); err != nil {
			t.Error(err)
		}
		env.expect(t, "set to nv.dl.rank=9")
	})
}

func TestSetReportsAFailure(t *testing.T) {
	env := &variable{fail: errFull}
	p := newPublisher(env)
	if _, err := p.set(rank(0)); !errors.Is(err, errFull) {
		t.Errorf("error %v, want %v", err, errFull)
	}
	env.failWith(nil)
	p.expectFree(t)
}

// A carrier longer than an environment string is refused before anything changes
// or runs, with the attribute to look at.
func TestPublishRefusesWhatDoesNotFit(t *testing.T) {
	env := &variable{text: "a=1", set: true}
	p := newPublisher(env)
	room := maxStringBytes - len("OTEL_RESOURCE_ATTRIBUTES=") - len("s=x,k=,t=y\x00")
	list := func(n int) []attribute.KeyValue {
		return []attribute.KeyValue{
			attribute.String("s", "x"), attribute.String("k", strings.Repeat("v", n)), attribute.String("t", "y"),
		}
	}
	if _, err := p.set(list(room)); err != nil {
		t.Errorf("a carrier that just fits: %v", err)
	}
	before := env.state()
	never := func(*Scope) error { t.Error("the function ran"); return nil }
	_, setErr := p.set(list(room + 1))
	errs := []error{setErr, p.publish(context.Background(), list(room+1), never)}
	if err := p.publish(context.Background(), nil, func(s *Scope) error {
		errs = append(errs, s.Publish(list(room+1), never))
		env.expect(t, "set to ")
		return nil
	}); err != nil {
		t.Error(err)
	}
	want := TooLongError{Size: 131073, Limit: 131072, Key: "k", KeySize: len("k=,") + room + 1}
	for _, err := range errs {
		got, ok := errors.AsType[*TooLongError](err)
		if !ok {
			t.Errorf("error %v, want a *TooLongError", err)
			continue
		}
		if diff := cmp.Diff(want, *got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		if text := err.Error(); !strings.Contains(text, "needs 131073 bytes of the 131072") || !strings.Contains(text, "largest attribute is k with") {
			t.Errorf("the text is %q", text)
		}
	}
	env.expect(t, before)
	p.expectFree(t)
}

func TestGoroutineID(t *testing.T) {
	here := goroutineID()
	if here == 0 || here != goroutineID() {
		t.Fatal("the runtime's header is not as expected: nesting without a handle would wait")
	}
	there := make(chan uint64)
	go func() { there <- goroutineID() }()
	if other := <-there; other == 0 || other == here {
		t.Errorf("goroutines %d and %d", here, other)
	}
}

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
