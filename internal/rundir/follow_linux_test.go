package rundir

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"
)

// Everything that is there, and then everything that comes, also on nodes that come
// later.
func TestFollow(t *testing.T) {
	dir := t.TempDir()
	o := testOptions(t, dir)
	o.Nodes = 2
	first := mustOpen(t, o)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	steps := []struct {
		want string
		then func()
	}{
		{"0 run_began", func() { _ = first.Event(Event{Kind: "a"}) }},
		{"0 a", func() {
			o.Node = 1
			second := mustOpen(t, o)
			_ = second.Event(Event{Kind: "b"})
		}},
		{"1 run_began", func() {}},
		{"1 b", func() {
			for i := range 3 {
				_ = first.Event(Event{Kind: fmt.Sprint(i)})
			}
		}},
		{"0 0", func() {}},
		{"0 1", func() {}},
		{"0 2", cancel},
	}
	i := 0
	for ev, err := range Follow(ctx, dir) {
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprintf("%d %s", ev.Node, ev.Kind); i == len(steps) || got != steps[i].want {
			t.Fatalf("event %d is %s", i, got)
		}
		steps[i].then()
		i++
	}
	wantEqual(t, "events", i, len(steps))
}

func TestFollowStopped(t *testing.T) {
	d := newDir(t)
	for range Follow(t.Context(), d.Path()) {
		break
	}
	for ev, err := range Follow(t.Context(), filepath.Join(d.Path(), "none")) {
		wantError(t, err, "cannot read events")
		wantEqual(t, "event", ev, Event{})
	}
}

// Without inotify, as over the network, the timer finds what has come.
func TestFollowByTimer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		w := newWatcher(time.Second, func() (*notifier, error) { return nil, errors.New("too many") })
		defer w.Close()
		w.Add(dir)
		l := newLog(t, dir, realSystem())
		ctx, cancel := context.WithCancel(t.Context())
		got := make(chan string)
		go func() {
			defer close(got)
			follow(ctx, dir, w, func(ev Event, err error) bool {
				got <- fmt.Sprint(ev.Kind, err)
				return true
			})
		}()
		for i := range 3 {
			synctest.Wait()
			mustLog(t, l, fmt.Sprint(i))
			began := time.Now()
			wantEqual(t, "event", <-got, fmt.Sprintf("%d<nil>", i))
			if waited := time.Since(began); waited > time.Second {
				t.Errorf("it took %v", waited)
			}
		}
		cancel()
		if ev, more := <-got; more {
			t.Errorf("one more: %s", ev)
		}
	})
}

// With inotify nobody waits for the timer.
func TestWatcher(t *testing.T) {
	dir := t.TempDir()
	w := NewWatcher(time.Hour)
	defer w.Close()
	w.Add(dir)
	w.Add(filepath.Join(dir, "none"))
	for _, name := range []string{"a", "b", "a"} {
		mustWrite(t, filepath.Join(dir, name), "x")
		<-w.C
	}
}

func TestWatcherByTimer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWatcher(time.Minute, func() (*notifier, error) { return nil, errors.New("none") })
		began := time.Now()
		for i := range 3 {
			<-w.C
			wantEqual(t, "time", time.Since(began), time.Duration(i+1)*time.Minute)
		}
		<-time.After(10 * time.Minute) // changes that nobody asks for are one
		<-w.C
		select {
		case <-w.C:
			t.Error("two values at once")
		default:
		}
		w.Close()
	})
}
