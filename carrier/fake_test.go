package carrier

import (
	"context"
	"errors"
	"sync"
	"testing"

	"go.opentelemetry.io/otel/attribute"
)

// variable is an environment of one variable that can be made to fail. The real
// one cannot: os.Setenv refuses only what [Format] never writes.
type variable struct {
	mu   sync.Mutex
	text string
	set  bool
	fail error
}

func (v *variable) Lookup() (string, bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.text, v.set
}

func (v *variable) Set(text string) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.fail == nil {
		v.text, v.set = text, true
	}
	return v.fail
}

func (v *variable) Unset() error {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.fail == nil {
		v.text, v.set = "", false
	}
	return v.fail
}

func (v *variable) failWith(err error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.fail = err
}

// state spells what the variable is, telling unset from empty.
func (v *variable) state() string {
	text, set := v.Lookup()
	if !set {
		return "unset"
	}
	return "set to " + text
}

func (v *variable) expect(t *testing.T, want string) {
	t.Helper()
	if got := v.state(); got != want {
		t.Errorf("the variable is %s, want %s", got, want)
	}
}

var errFull = errors.New("environment is full")

func rank(n int) []attribute.KeyValue {
	return []attribute.KeyValue{attribute.Int("nv.dl.rank", n)}
}

// expectFree fails if the publisher's turn was not given back.
func (p *publisher) expectFree(t *testing.T) {
	t.Helper()
	if len(p.turn) != 0 || p.innermost != nil {
		t.Fatal("the turn was not given back")
	}
	ran := false
	err := p.publish(context.Background(), nil, func(*Scope) error { ran = true; return nil })
	if err != nil || !ran {
		t.Errorf("a later publication: ran %v, %v", ran, err)
	}
}
