package carrier

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
)

func TestScopesUnwindInReverseOrder(t *testing.T) {
	env := &variable{text: "a=1", set: true}
	p := newPublisher(env)
	err := p.publish(context.Background(), rank(0), func(s *Scope) error {
		for range 2 { // a handle opens one after the other
			err := s.Publish(rank(1), func(s *Scope) error {
				err := s.Publish(rank(2), func(*Scope) error {
					env.expect(t, "set to nv.dl.rank=2")
					return nil
				})
				env.expect(t, "set to nv.dl.rank=1")
				return err
			})
			env.expect(t, "set to nv.dl.rank=0")
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	env.expect(t, "set to a=1")
	p.expectFree(t)
}

func TestInnerPanicUnwindsAll(t *testing.T) {
	env := &variable{}
	p := newPublisher(env)
	func() {
		defer func() {
			if got := recover(); got != "deep" {
				t.Errorf("the panic became %v", got)
			}
		}()
		_ = p.publish(context.Background(), rank(0), func(s *Scope) error {
			return s.Publish(rank(1), func(*Scope) error { panic("deep") })
		})
	}()
	env.expect(t, "unset")
	p.expectFree(t)
}

func TestHandleAfterItsEnd(t *testing.T) {
	env := &variable{}
	p := newPublisher(env)
	var outer, inner *Scope
	never := func(*Scope) error { t.Error("the function ran"); return nil }
	err := p.publish(context.Background(), rank(0), func(s *Scope) error {
		outer = s
		if err := s.Publish(rank(1), func(s *Scope) error { inner = s; return nil }); err != nil {
			return err
		}
		if err := inner.Publish(rank(2), never); !errors.Is(err, ErrScopeClosed) {
			t.Errorf("inner handle after its end: %v", err)
		}
		env.expect(t, "set to nv.dl.rank=0")
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	if err := outer.Publish(rank(2), never); !errors.Is(err, ErrScopeClosed) {
		t.Errorf("outer handle after its end: %v", err)
	}
	env.expect(t, "unset")
	p.expectFree(t)
}

func TestHandleWhileAnInnerScopeIsOpen(t *testing.T) {
	env := &variable{}
	p := newPublisher(env)
	err := p.publish(context.Background(), rank(0), func(outer *Scope) error {
		return outer.Publish(rank(1), func(*Scope) error {
			err := outer.Publish(rank(2), func(*Scope) error {
				t.Error("the function ran")
				return nil
			})
			if !errors.Is(err, ErrScopeBusy) {
				t.Errorf("outer handle inside the inner scope: %v", err)
			}
			env.expect(t, "set to nv.dl.rank=1")
			return nil
		})
	})
	if err != nil {
		t.Error(err)
	}
	p.expectFree(t)
}

// Two scopes whose functions return while an inner one is still open on another
// goroutine: both say so at once, nobody waits, the inner one keeps its carrier
// and the turn, and its end restores what was before the outermost.
func TestOuterScopeReturnsFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		env := &variable{text: "a=1", set: true}
		p := newPublisher(env)
		opened, leave := make(chan struct{}), make(chan struct{})
		innerDone, laterDone := make(chan error, 1), make(chan error, 1)
		err := p.publish(t.Context(), rank(0), func(s *Scope) error {
			return s.Publish(rank(1), func(s *Scope) error {
				go func() {
					innerDone <- s.Publish(rank(2), func(*Scope) error {
						close(opened)
						<-leave
						env.expect(t, "set to nv.dl.rank=2")
						return nil
					})
				}()
				<-opened
				return nil
			})
		})
		if !errors.Is(err, ErrScopeBusy) {
			t.Errorf("the outer publications returned %v", err)
		}
		env.expect(t, "set to nv.dl.rank=2")
		// This goroutine is outside again: it waits for its turn like any other.
		go func() {
			laterDone <- p.publish(t.Context(), rank(3), func(*Scope) error {
				env.expect(t, "set to nv.dl.rank=3")
				return nil
			})
		}()
		synctest.Wait()
		env.expect(t, "set to nv.dl.rank=2")
		if p.holds(goroutineID()) {
			t.Error("a goroutine that has returned still counts as inside")
		}
		close(leave)
		if err := errors.Join(<-innerDone, <-laterDone); err != nil {
			t.Error(err)
		}
		env.expect(t, "set to a=1")
		p.expectFree(t)
	})
}

func TestHandleOfAScopeThatReturnedFirst(t *testing.T) {
	p := newPublisher(&variable{})
	opened, leave, done := make(chan *Scope, 1), make(chan struct{}), make(chan error, 1)
	err := p.publish(context.Background(), rank(0), func(s *Scope) error {
		go func() {
			done <- s.Publish(rank(1), func(*Scope) error {
				opened <- s
				<-leave
				return nil
			})
		}()
		opened <- <-opened
		return nil
	})
	if !errors.Is(err, ErrScopeBusy) {
		t.Errorf("the outer publication returned %v", err)
	}
	outer := <-opened
	if err := outer.Publish(rank(2), func(*Scope) error { return nil }); !errors.Is(err, ErrScopeClosed) {
		t.Errorf("a handle whose function has returned: %v", err)
	}
	close(leave)
	if err := <-done; err != nil {
		t.Error(err)
	}
	p.expectFree(t)
}

// A panic is not hidden by the complaint about an inner scope, and that scope
// still restores in the end.
func TestPanicWhileAnInnerScopeIsOpen(t *testing.T) {
	env := &variable{}
	p := newPublisher(env)
	opened, leave, done := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	func() {
		defer func() {
			if got := recover(); got != "outer" {
				t.Errorf("the panic became %v", got)
			}
		}()
		_ = p.publish(context.Background(), rank(0), func(s *Scope) error {
			go func() {
				done <- s.Publish(rank(1), func(*Scope) error {
					close(opened)
					<-leave
					return nil
				})
			}()
			<-opened
			panic("outer")
		})
	}()
	env.expect(t, "set to nv.dl.rank=1")
	close(leave)
	if err := <-done; err != nil {
		t.Error(err)
	}
	env.expect(t, "unset")
	p.expectFree(t)
}

func TestOpenFails(t *testing.T) {
	env := &variable{fail: errFull}
	p := newPublisher(env)
	never := func(*Scope) error { t.Error("the function ran"); return nil }
	if err := p.publish(context.Background(), rank(0), never); !errors.Is(err, errFull) {
		t.Errorf("error %v, want %v", err, errFull)
	}
	env.failWith(nil)
	err := p.publish(context.Background(), rank(0), func(s *Scope) error {
		env.failWith(errFull)
		if err := s.Publish(rank(1), never); !errors.Is(err, errFull) {
			t.Errorf("inner: error %v, want %v", err, errFull)
		}
		env.failWith(nil)
		// The failed one is not open: the handle is free.
		return s.Publish(rank(1), func(*Scope) error { return nil })
	})
	if err != nil {
		t.Error(err)
	}
	p.expectFree(t)
}

// Restoring that fails is an error beside the function's own, and the turn is
// given back: the next publication still works.
func TestRestoreFails(t *testing.T) {
	errRank := errors.New("rank failed")
	for _, before := range []*variable{{}, {text: "a=1", set: true}} {
		p := newPublisher(before)
		err := p.publish(context.Background(), rank(0), func(*Scope) error {
			before.failWith(errFull)
			return errRank
		})
		if !errors.Is(err, errFull) || !errors.Is(err, errRank) {
			t.Errorf("error %v, want both", err)
		}
		before.failWith(nil)
		p.expectFree(t)
	}
}

func TestRestoreFailsDuringAPanic(t *testing.T) {
	env := &variable{}
	p := newPublisher(env)
	func() {
		defer func() {
			if err, ok := recover().(error); !ok || !errors.Is(err, errFull) {
				t.Errorf("the panic is %v, want the failure to restore", err)
			}
		}()
		_ = p.publish(context.Background(), rank(0), func(*Scope) error {
			env.failWith(errFull)
			panic("rank panicked")
		})
	}()
	env.failWith(nil)
	p.expectFree(t)
}

// carriersIn returns the values that an environment gives the variable.
func carriersIn(env []string) []string {
	var values []string
	for _, entry := range env {
		if value, ok := strings.CutPrefix(entry, Variable+"="); ok {
			values = append(values, value)
		}
	}
	return values
}

// The real environment: the variable is there for children that inherit it, and
// every handle hands out its own carrier, exactly once, whatever is open.
func TestEnviron(t *testing.T) {
	t.Setenv(Variable, "service.name=x")
	t.Setenv("LENSLAUNCH_TEST_OTHER", "kept")
	expect := func(what string, s *Scope, want string) {
		t.Helper()
		env := s.Environ()
		if diff := cmp.Diff([]string{want}, carriersIn(env)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", what, diff)
		}
		if !slices.Contains(env, "LENSLAUNCH_TEST_OTHER=kept") {
			t.Errorf("%s: the rest of the environment is lost", what)
		}
	}
	var ended *Scope
	err := Publish(t.Context(), rank(0), func(s *Scope) error {
		ended = s
		expect("open", s, "nv.dl.rank=0")
		return s.Publish(rank(1), func(inner *Scope) error {
			if got := os.Getenv(Variable); got != "nv.dl.rank=1" {
				t.Errorf("the process has %q", got)
			}
			expect("inner", inner, "nv.dl.rank=1")
			expect("busy", s, "nv.dl.rank=0")
			return nil
		})
	})
	if err != nil {
		t.Error(err)
	}
	expect("ended", ended, "nv.dl.rank=0")
	if got := os.Getenv(Variable); got != "service.name=x" {
		t.Errorf("the process is left with %q", got)
	}
}

func TestSetInTheRealEnvironment(t *testing.T) {
	t.Setenv(Variable, "service.name=x")
	if _, err := Set(rank(4)); err != nil {
		t.Fatal(err)
	}
	if got := os.Getenv(Variable); got != "nv.dl.rank=4" {
		t.Errorf("the process has %q", got)
	}
}

func TestPublishLeavesTheVariableUnset(t *testing.T) {
	t.Setenv(Variable, "") // restores the machine's own afterwards
	if err := os.Unsetenv(Variable); err != nil {
		t.Fatal(err)
	}
	if err := Publish(t.Context(), rank(0), func(*Scope) error { return nil }); err != nil {
		t.Error(err)
	}
	if value, set := os.LookupEnv(Variable); set {
		t.Errorf("the variable is set to %q", value)
	}
}
