package logmux

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// gate is a console that somebody can stop, as Ctrl-S does. It records each write with
// the time since it was made.
type gate struct {
	began time.Time
	open  chan struct{} // a token: writes pass

	mu  sync.Mutex
	all []string
}

func newGate() *gate {
	g := &gate{began: time.Now(), open: make(chan struct{}, 1)}
	g.goOn()
	return g
}

func (g *gate) stop() { <-g.open }
func (g *gate) goOn() { g.open <- struct{}{} }

func (g *gate) Write(p []byte) (int, error) {
	<-g.open
	g.mu.Lock()
	g.all = append(g.all, fmt.Sprintf("%v %s", time.Since(g.began), p))
	g.mu.Unlock()
	g.goOn()
	return len(p), nil
}

func (g *gate) texts() []string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return append([]string{}, g.all...)
}

// terminalSink is a Sink that takes w for a terminal of 80 columns.
func terminalSink(w io.Writer) *Sink {
	c := newConsole(w, policy{live: true, inPlace: true})
	c.screen.width = func() int { return 80 }
	return &Sink{c: c, w: w}
}

// process is what a stream reads.
type process struct {
	*io.PipeWriter
	over chan error
}

// begin runs a stream.
func begin(s Stream) process {
	r, w := io.Pipe()
	p := process{w, make(chan error, 1)}
	go func() { p.over <- s.Copy(r) }()
	return p
}

func (p process) say(t *testing.T, text string) {
	t.Helper()
	if _, err := io.WriteString(p, text); err != nil {
		t.Error(err)
	}
}

func (p process) end(t *testing.T) {
	t.Helper()
	p.Close()
	if err := <-p.over; err != nil {
		t.Error(err)
	}
}

// A console that stands still holds a rank for five seconds, once. Then lines are
// skipped there and counted; the file has all of them.
func TestConsoleThatStandsStill(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate()
		var file bytes.Buffer
		p := begin(Stream{
			To: NewSink(g, nil), Prefix: "[3] ", Continuation: "[3]+ ",
			File: &file, Where: "DIR/rank-3.out", Holds: 5 * time.Second,
		})
		p.say(t, "before\n")
		synctest.Wait()
		g.stop()
		began := time.Now()
		p.say(t, "held\n")
		p.say(t, "skipped 1\n") // waits until the one before it is given up
		if held := time.Since(began); held != 5*time.Second {
			t.Errorf("held for %v", held)
		}
		for i := range 12_399 {
			p.say(t, fmt.Sprintf("skipped %d\n", i+2))
		}
		if held := time.Since(began); held != 5*time.Second {
			t.Errorf("held for %v after that", held)
		}
		<-time.After(14500 * time.Millisecond)
		g.goOn()
		synctest.Wait()
		p.say(t, "after\n")
		p.end(t)
		want := []string{"0s [3] before\n", "19.5s [3] held\n", "19.5s [3] 12,400 lines are in DIR/rank-3.out\n[3] after\n"}
		if diff := cmp.Diff(want, g.texts()); diff != "" {
			t.Errorf("console (-want +got):\n%s", diff)
		}
		if n := strings.Count(file.String(), "\n"); n != 12_403 {
			t.Errorf("%d lines in the file", n)
		}
	})
}

// The number comes also if the process says nothing more.
func TestSkippedLinesAreToldInSilence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate()
		p := begin(Stream{To: NewSink(g, nil), Prefix: "[3] ", File: io.Discard, Where: "F", Holds: 5 * time.Second})
		g.stop()
		p.say(t, "held\n")
		p.say(t, "skipped\n")
		<-time.After(9500 * time.Millisecond)
		g.goOn()
		<-time.After(2 * time.Second)
		if diff := cmp.Diff([]string{"14.5s [3] held\n", "15s [3] 1 line is in F\n"}, g.texts()); diff != "" {
			t.Errorf("console (-want +got):\n%s", diff)
		}
		p.end(t)
	})
}

// Without a file there is nothing to fall back on: the console may hold for ever.
func TestConsoleHoldsWithoutAFile(t *testing.T) {
	for _, s := range []Stream{{Holds: 5 * time.Second}, {File: io.Discard}, {File: brokenFile{}, Holds: 5 * time.Second}} {
		synctest.Test(t, func(t *testing.T) {
			g := newGate()
			s.To, s.Prefix, s.Pulse = NewSink(g, nil), "[3] ", new(Pulse)
			p := begin(s)
			g.stop()
			p.say(t, "a\n")
			go func() {
				<-time.After(time.Hour)
				if !s.Pulse.Held() {
					t.Error("it is not held")
				}
				g.goOn()
			}()
			p.say(t, "b\n")
			p.end(t)
			if diff := cmp.Diff([]string{"1h0m0s [3] a\n", "1h0m0s [3] b\n"}, g.texts()); diff != "" {
				t.Errorf("console (-want +got):\n%s", diff)
			}
		})
	}
}

// brokenFile is on a disk that is full.
type brokenFile struct{}

var errFull = errors.New("no space left on device")

func (brokenFile) Write([]byte) (int, error) { return 0, errFull }

// A file that fails is given up with one message, and the console goes on.
func TestFileThatFails(t *testing.T) {
	var w writes
	var lost []error
	s := Stream{To: NewSink(&w, nil), File: brokenFile{}, FileLost: func(err error) { lost = append(lost, err) }, Holds: time.Second}
	if err := s.Copy(&chunks{"a\n", "b\n"}); err != nil {
		t.Fatal(err)
	}
	if len(lost) != 1 || !errors.Is(lost[0], errFull) || w.String() != "a\nb\n" {
		t.Errorf("told %v, console %q", lost, w.String())
	}
}

// A file gets the bytes as they are, also when the console has gone.
func TestFileGetsEveryByte(t *testing.T) {
	text := "a\r\nb\x00\xff" + strings.Repeat("x", 3*MaxLine) + "\rno end"
	for _, to := range []*Sink{nil, NewSink(&writes{}, nil), NewSink(&writes{err: io.ErrClosedPipe}, nil)} {
		var file bytes.Buffer
		s := Stream{To: to, Prefix: "[3] ", Continuation: "[3]+ ", File: &file, Holds: time.Second}
		if err := s.Copy(strings.NewReader(text)); err != nil {
			t.Fatal(err)
		}
		if file.String() != text {
			t.Errorf("%d bytes in the file of %d", file.Len(), len(text))
		}
	}
}

// A terminal shows an unfinished line after 100 ms of silence.
func TestSilence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate()
		p := begin(Stream{To: terminalSink(g), Prefix: "[3] ", Continuation: "[3]+ "})
		p.say(t, "Continue? ")
		<-time.After(50 * time.Millisecond)
		p.say(t, "[y/N] ")
		<-time.After(time.Second)
		p.say(t, "yes\n")
		p.end(t)
		if diff := cmp.Diff([]string{"150ms [3] Continue? [y/N] ", "1.05s yes\n"}, g.texts()); diff != "" {
			t.Errorf("terminal (-want +got):\n%s", diff)
		}
	})
}

// A bar on a terminal is drawn by a timer where it moves too fast.
func TestBarIsDrawnInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate()
		sink := terminalSink(g)
		p := begin(Stream{To: sink, Prefix: "[3] "})
		for i := range 30 {
			p.say(t, fmt.Sprintf("%d%%\r", i))
			<-time.After(10 * time.Millisecond)
		}
		<-time.After(time.Second)
		if _, err := sink.Write([]byte("lenslaunch: a message\n")); err != nil {
			t.Error(err)
		}
		p.say(t, "done\n")
		p.end(t)
		v := newVT(t, 80)
		texts := g.texts()
		for _, text := range texts {
			_, out, _ := strings.Cut(text, " ")
			v.write([]byte(out))
		}
		if got := v.seen(); got != "lenslaunch: a message\n[3] done" {
			t.Errorf("on the screen: %q", got)
		}
		if len(texts) < 4 || len(texts) > 8 {
			t.Errorf("%d writes: %q", len(texts), texts)
		}
	})
}

// Two ranks and the launcher share a console that is slow: all of it comes, in order.
func TestManyOnASlowConsole(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate()
		sink := NewSink(slow{g}, nil)
		a := begin(Stream{To: sink, Prefix: "[0] "})
		b := begin(Stream{To: sink, Prefix: "[1] "})
		var all sync.WaitGroup
		for _, p := range []process{a, b} {
			all.Go(func() {
				for i := range 50 {
					p.say(t, fmt.Sprintf("%d\n", i))
				}
				p.end(t)
			})
		}
		all.Go(func() {
			for range 20 {
				if _, err := sink.Write([]byte("lenslaunch: a message\n")); err != nil {
					t.Error(err)
				}
			}
		})
		all.Wait()
		if n := len(g.texts()); n != 120 {
			t.Errorf("%d writes", n)
		}
	})
}

// slow takes its time.
type slow struct{ io.Writer }

func (s slow) Write(p []byte) (int, error) {
	<-time.After(100 * time.Millisecond)
	return s.Writer.Write(p)
}

// A console that is only slow takes no more than a tenth of a rank's time in the long
// run, and says what it left out.
func TestSlowConsoleTakesATenth(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate()
		p := begin(Stream{To: NewSink(slow{g}, nil), File: io.Discard, Where: "F", Holds: 5 * time.Second})
		began := time.Now()
		const lines = 60_000
		for i := range lines {
			p.say(t, fmt.Sprintf("line %d\n", i))
			<-time.After(10 * time.Millisecond)
		}
		if took := time.Since(began); took > 690*time.Second {
			t.Errorf("10 minutes of work took %v", took)
		}
		p.end(t)
		<-time.After(time.Minute)
		shown, told := 0, 0
		count := regexp.MustCompile(`([\d,]+) lines? (are|is) in F\n`)
		for _, text := range g.texts() {
			shown += strings.Count(text, "\n")
			for _, found := range count.FindAllStringSubmatch(text, -1) {
				n, err := strconv.Atoi(strings.ReplaceAll(found[1], ",", ""))
				if err != nil {
					t.Fatal(err)
				}
				told, shown = told+n, shown-1
			}
		}
		if shown+told != lines {
			t.Errorf("%d lines shown and %d told of, of %d", shown, told, lines)
		}
	})
}
