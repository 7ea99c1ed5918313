package runview

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
)

// fakeScreen keeps what is drawn on it.
type fakeScreen struct {
	columns, lines int
	pictures       chan []string
	fail           error
	pauses         int
}

func (s *fakeScreen) Size() (columns, lines int) { return s.columns, s.lines }

func (s *fakeScreen) Draw(lines []string) error {
	if s.fail != nil {
		return s.fail
	}
	s.pictures <- lines
	return nil
}

func (s *fakeScreen) Pause() error {
	s.pauses++
	return s.fail
}

// watching is a live table under a test's hands.
type watching struct {
	screen *fakeScreen
	ticks  chan time.Time
	moves  chan Move
	ended  chan struct{}
	last   string
	err    error
}

func watch(t *testing.T, sample func() (Snapshot, error)) *watching {
	t.Helper()
	w := &watching{
		screen: &fakeScreen{columns: 200, lines: 8, pictures: make(chan []string)},
		ticks:  make(chan time.Time), moves: make(chan Move), ended: make(chan struct{}),
	}
	go func() {
		defer close(w.ended)
		w.last, w.err = Watch(sample, w.screen, w.ticks, w.moves)
	}()
	return w
}

// ranksOf are the first cells of the rows of a picture.
func ranksOf(picture []string) string {
	var list []string
	for _, line := range picture[3:] {
		if !strings.HasPrefix(line, "rows") && !strings.HasPrefix(line, "q:") {
			list = append(list, strings.Fields(clean(line))[0])
		}
	}
	return strings.Join(list, " ")
}

// manyRanks is a snapshot with so many of them.
func manyRanks(n int) Snapshot {
	s := Snapshot{Head: "run-7: running", Live: true}
	for i := range n {
		s.Rows = append(s.Rows, RankRow{Rank: i, Fate: Running, CPU: -1, Memory: -1, GPU: -1})
	}
	return s
}

func TestWatchMoves(t *testing.T) {
	defer goleak.VerifyNone(t)
	w := watch(t, func() (Snapshot, error) { return manyRanks(10), nil })
	if got := ranksOf(<-w.screen.pictures); got != "0 1 2 3" {
		t.Errorf("at first %q", got)
	}
	for _, step := range []struct {
		move Move
		want string
	}{
		{Up, "0 1 2 3"}, {Down, "1 2 3 4"}, {Down, "2 3 4 5"}, {Up, "1 2 3 4"}, {PageDown, "5 6 7 8"}, {PageDown, "6 7 8 9"}, {Down, "6 7 8 9"},
		{PageUp, "2 3 4 5"}, {Top, "0 1 2 3"}, {Bottom, "6 7 8 9"}, {Redraw, "6 7 8 9"}, {Pause, "6 7 8 9"},
	} {
		w.moves <- step.move
		if got := ranksOf(<-w.screen.pictures); got != step.want {
			t.Errorf("after move %d %q, want %q", step.move, got, step.want)
		}
	}
	w.moves <- Leave
	<-w.ended
	if w.last != "run-7: running" || w.err != nil || w.screen.pauses != 1 {
		t.Errorf("%q, %v, %d pauses", w.last, w.err, w.screen.pauses)
	}
}

// A terminal that was made larger shows what it has room for.
func TestWatchResize(t *testing.T) {
	defer goleak.VerifyNone(t)
	w := watch(t, func() (Snapshot, error) { return manyRanks(10), nil })
	<-w.screen.pictures
	w.moves <- Bottom
	<-w.screen.pictures
	w.screen.lines = 24
	w.moves <- Redraw
	if got := ranksOf(<-w.screen.pictures); got != "0 1 2 3 4 5 6 7 8 9" {
		t.Errorf("%q", got)
	}
	close(w.moves)
	<-w.ended
}

func TestWatchTicks(t *testing.T) {
	defer goleak.VerifyNone(t)
	n := 0
	w := watch(t, func() (Snapshot, error) {
		n++
		if n == 3 {
			return Snapshot{}, errors.New("stale\nfile handle")
		}
		return Snapshot{Head: fmt.Sprint("look ", n)}, nil
	})
	var heads []string
	for i := range 4 {
		if i > 0 {
			w.ticks <- time.Time{}
		}
		picture := <-w.screen.pictures
		heads = append(heads, clean(picture[0])+"/"+picture[1])
	}
	// What cannot be read for a moment stays in sight, with why.
	want := []string{"look 1/lasted 0ms", "look 2/lasted 0ms", "look 2/lasted 0ms   stale file handle", "look 4/lasted 0ms"}
	if diff := cmp.Diff(want, heads); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	close(w.moves)
	<-w.ended
	if w.last != "look 4" || w.err != nil {
		t.Errorf("%q, %v", w.last, w.err)
	}
}

func TestWatchEndsWithItsScreen(t *testing.T) {
	gone := errors.New("input/output error")
	last, err := Watch(func() (Snapshot, error) { return snapshot(), nil }, &fakeScreen{fail: gone}, nil, nil)
	if !errors.Is(err, gone) || last == "" {
		t.Errorf("%q, %v", last, err)
	}
	if _, err := Watch(func() (Snapshot, error) { return Snapshot{}, gone }, nil, nil, nil); !errors.Is(err, gone) {
		t.Errorf("%v", err)
	}
}
