package logmux

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// event is something that happens to a lane at a time.
type event struct {
	at   time.Duration
	text string // empty: silence
}

// play feeds a lane and calls quiet when it is due. It returns what was written, each
// batch with its time.
func play(l *lane, events ...event) []string {
	var out []string
	flush := func(at time.Duration) {
		if !l.empty() {
			bar := ""
			if l.barred {
				bar = " bar " + string(l.bar)
			}
			out = append(out, fmt.Sprintf("%v %q%s", at, l.text, bar))
		}
		l.clear()
	}
	for _, e := range append(events, event{at: time.Hour}) {
		for due := l.due(); !due.IsZero() && due.Before(start.Add(e.at)); due = l.due() {
			l.quiet(due)
			flush(due.Sub(start))
		}
		for chunk := []byte(e.text); len(chunk) > 0; flush(e.at) {
			chunk = l.take(start.Add(e.at), chunk)
		}
		l.since = start.Add(e.at)
	}
	l.end()
	flush(time.Hour)
	return out
}

// Where no bar can be refreshed in place, it comes about once a second, and its last
// state always.
func TestBarsElsewhere(t *testing.T) {
	ms := time.Millisecond
	tests := []struct {
		name string
		in   []event
		want []string
	}{
		{"states that end with \\r", []event{{0, "1%\r"}, {300 * ms, "2%\r"}, {600 * ms, "3%\r"}, {1100 * ms, "4%\r"}, {1200 * ms, "done\n"}},
			[]string{`100ms "[3] 1%\n"`, `1.1s "[3] 3%\n"`, `1.2s "[3] done\n"`}},
		{"states that begin with \\r", []event{{0, "\r1%"}, {300 * ms, "\r2%"}, {600 * ms, "\r3%"}, {5 * time.Second, "\r100%\n"}},
			[]string{`100ms "[3] 1%\n"`, `1.1s "[3] 3%\n"`, `5s "[3] 100%\n"`}},
		{"the last state is not shown twice", []event{{0, "\r1%"}, {2 * time.Second, "\n"}}, []string{`100ms "[3] 1%\n"`}},
		{"the last state comes though the process is silent for long", []event{{0, "1%\r2%\r3%\r"}},
			[]string{`0s "[3] 2%\n"`, `1s "[3] 3%\n"`}},
		{"the last state comes at the end of the stream", []event{{0, "1%\r2%"}, {50 * ms, "\r3%"}, {time.Hour, ""}},
			[]string{`0s "[3] 1%\n"`, `1s "[3] 3%\n"`}},
		{"a bar that is wiped", []event{{0, "\r1%"}, {2 * time.Second, "\r    \r"}, {3 * time.Second, "next\n"}},
			[]string{`100ms "[3] 1%\n"`, `3s "[3] next\n"`}},
		{"lines between", []event{{0, "a\n\r1%\n"}, {0, "b\r\n"}}, []string{`0s "[3] a\n[3] 1%\n"`, `0s "[3] b\r\n"`}},
		{"all at once", []event{{0, "\r1%\r2%\r100%\nend\n"}}, []string{`0s "[3] 100%\n[3] end\n"`}},
		{"colours are no text", []event{{0, "\r\x1b[2K \r"}, {time.Second, "\n"}}, []string{`1s "[3] \n"`}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, play(testLane(policy{}), tt.in...)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// On a terminal every state goes to the screen, which draws as often as eyes can bear.
func TestBarsInPlace(t *testing.T) {
	ms := time.Millisecond
	tests := []struct {
		name string
		in   []event
		want []string
	}{
		{"states that end with \\r", []event{{0, "1%\r"}, {30 * ms, "2%\r"}, {60 * ms, "done\n"}},
			[]string{`30ms "" bar 1%`, `60ms "[3] done\n" bar `}},
		{"silence shows the state that has no end yet", []event{{0, "\r1%"}, {500 * ms, "\r2%"}, {600 * ms, "\n"}},
			[]string{`100ms "" bar 1%`, `600ms "[3] 2%\n" bar `}},
		{"a bar that is wiped leaves", []event{{0, "\r1%"}, {500 * ms, "\r   \r"}, {900 * ms, "next\n"}},
			[]string{`100ms "" bar 1%`, `600ms "" bar    `, `900ms "[3] next\n" bar `}},
		{"an unfinished line becomes a bar", []event{{0, "Load"}, {500 * ms, "\r1%"}},
			[]string{`100ms "[3] Load"`, `500ms "" bar Load`, `600ms "" bar 1%`, `1h0m0s "[3] 1%\n" bar `}},
		{"the end of the stream leaves the last state", []event{{0, "\r1%"}}, []string{`100ms "" bar 1%`, `1h0m0s "[3] 1%\n" bar `}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			l := testLane(policy{live: true, inPlace: true})
			if diff := cmp.Diff(tt.want, play(l, tt.in...)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// All states are pieces of their line: joined they are what was written.
func TestKeptStates(t *testing.T) {
	l := testLane(policy{keepCR: true})
	got := l.feed(start, "1%\r2%\r") + l.feed(start, "\r3%\r\nnext\r\n")
	if want := "[3] 1%\r\n[3]+ 2%\r\n[3]+ \r\n[3]+ 3%\r\n[3] next\r\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if joined(got) != "1%\r2%\r\r3%\r\nnext\r\n" {
		t.Errorf("joined %q", joined(got))
	}
}

// A line end of two characters is no bar, wherever a read cuts it.
func TestLineEndsOfOtherSystems(t *testing.T) {
	l := testLane(policy{})
	if got := l.feed(start, "a\r") + l.feed(start, "\nb\r\n"); got != "[3] a\r\n[3] b\r\n" {
		t.Errorf("%q", got)
	}
}

// The states of a bar do not pile up.
func TestBarsAreBounded(t *testing.T) {
	l := testLane(policy{live: true, inPlace: true})
	for i := range 100_000 {
		l.take(start, fmt.Appendf(nil, "\r%d%%", i))
		l.clear()
	}
	if got := cap(l.rest) + cap(l.state) + cap(l.told) + cap(l.text); got > 1024 {
		t.Errorf("%d bytes are kept", got)
	}
	l.take(start, []byte("\r"+strings.Repeat("x", 3*MaxLine)))
	if got := cap(l.rest); got > 2*MaxLine {
		t.Errorf("%d bytes are kept of a long state", got)
	}
}

// A state that the console did not get comes again.
func TestSkippedState(t *testing.T) {
	l := testLane(policy{live: true, inPlace: true})
	l.take(start, []byte("\r1%\r2%"))
	l.skipped()
	l.clear()
	l.since = start
	if due := l.due(); due.IsZero() {
		t.Fatal("it is not due")
	}
	l.quiet(start)
	if got := l.flush(); got.Bar != "2%" {
		t.Errorf("%+v", got)
	}
}
