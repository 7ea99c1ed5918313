package logmux

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// writes records each write by itself.
type writes struct {
	mu  sync.Mutex
	all []string
	err error
}

func (w *writes) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err != nil {
		return 0, w.err
	}
	w.all = append(w.all, string(p))
	return len(p), nil
}

func (w *writes) String() string { return strings.Join(w.all, "") }

// chunks is a reader that gives exactly these reads.
type chunks []string

func (c *chunks) Read(p []byte) (int, error) {
	if len(*c) == 0 {
		return 0, io.EOF
	}
	n := copy(p, (*c)[0])
	if (*c)[0] = (*c)[0][n:]; (*c)[0] == "" {
		*c = (*c)[1:]
	}
	return n, nil
}

func TestLinesGetPrefixes(t *testing.T) {
	tests := []struct {
		name string
		in   chunks
		want []string
	}{
		{"nothing", nil, nil},
		{"a line", chunks{"a\n"}, []string{"[3] a\n"}},
		{"two lines in one read are one write", chunks{"a\nb\n"}, []string{"[3] a\n[3] b\n"}},
		{"a line in pieces", chunks{"a", "b", "c\n"}, []string{"[3] abc\n"}},
		{"one byte at a time", chunks{"a", "\n", "b", "\n"}, []string{"[3] a\n", "[3] b\n"}},
		{"no line end at the end", chunks{"a\nb"}, []string{"[3] a\n", "[3] b\n"}},
		{"empty lines", chunks{"\n\n"}, []string{"[3] \n[3] \n"}},
		{"bytes are not altered", chunks{"\x00\xff\x1b[0m\r\n"}, []string{"[3] \x00\xff\x1b[0m\r\n"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var w writes
			s := Stream{To: NewSink(&w, nil), Prefix: "[3] ", Continuation: "[3]+ "}
			if err := s.Copy(&tt.in); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, w.all); diff != "" {
				t.Errorf("writes (-want +got):\n%s", diff)
			}
		})
	}
}

// joined undoes prefixes and pieces.
func joined(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if rest, ok := strings.CutPrefix(line, "[3]+ "); ok {
			whole := strings.TrimSuffix(b.String(), "\n")
			b.Reset()
			b.WriteString(whole + rest)
			continue
		}
		b.WriteString(strings.TrimPrefix(line, "[3] "))
	}
	return b.String()
}

// A line over 64 KiB comes in pieces, which joined are the line; no UTF-8 character
// is cut (launch specification, "Output").
func TestLongLines(t *testing.T) {
	for _, size := range []int{MaxLine - 1, MaxLine, MaxLine + 1, 3*MaxLine + 7} {
		for _, letter := range []string{"x", "€", "😀"} {
			line := strings.Repeat(letter, size/len(letter)+1) + "\n"
			var w writes
			s := Stream{To: NewSink(&w, nil), Prefix: "[3] ", Continuation: "[3]+ "}
			if err := s.Copy(strings.NewReader("first\n" + line + "last")); err != nil {
				t.Fatal(err)
			}
			out := w.String()
			if joined(out) != "first\n"+line+"last\n" {
				t.Fatalf("%d bytes of %s: the pieces are not the line", size, letter)
			}
			for piece := range strings.Lines(out) {
				if len(piece) > MaxLine+len("[3]+ \n") || !utf8.ValidString(piece) {
					t.Errorf("%d bytes of %s: a piece of %d bytes, valid %v", size, letter, len(piece), utf8.ValidString(piece))
				}
			}
		}
	}
}

// Without a prefix bytes come out as they went in, whatever the reads.
func TestPlainIsTheSameBytes(t *testing.T) {
	text := strings.Repeat("0123456789\n", 30_000) + strings.Repeat("y", 3*MaxLine) + "\nend\n"
	for _, s := range []Stream{{}, {Raw: true}} {
		var in chunks
		for rest := text; rest != ""; {
			n := min(len(rest), 1+rand.IntN(9000))
			in, rest = append(in, rest[:n]), rest[n:]
		}
		var w writes
		s.To = NewSink(&w, nil)
		if err := s.Copy(&in); err != nil {
			t.Fatal(err)
		}
		if w.String() != text {
			t.Errorf("raw %v: %d bytes came out of %d", s.Raw, len(w.String()), len(text))
		}
	}
}

// Lines of many streams never mix, and none is lost (torchrun#117383).
func TestStreamsDoNotMix(t *testing.T) {
	const streams, lines = 8, 2000
	var w writes
	sink := NewSink(&w, nil)
	var m Mux
	var all sync.WaitGroup
	for i := range streams {
		r, pipe, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		m.Add(r, Stream{To: sink, Prefix: fmt.Sprintf("[%d] ", i), Continuation: fmt.Sprintf("[%d]+ ", i)})
		all.Go(func() {
			defer pipe.Close()
			for n := range lines {
				// Slow block writers cut lines anywhere.
				text := fmt.Sprintf("%d-%d-%s\n", i, n, strings.Repeat("z", n%97))
				cut := rand.IntN(len(text))
				io.WriteString(pipe, text[:cut])
				io.WriteString(pipe, text[cut:])
			}
		})
	}
	all.Wait()
	if cut := m.Drain(time.Minute); cut != 0 {
		t.Errorf("%d streams were cut off", cut)
	}
	next := make([]int, streams)
	for line := range strings.Lines(w.String()) {
		var i, j, n int
		if _, err := fmt.Sscanf(line, "[%d] %d-%d-", &i, &j, &n); err != nil || i != j || n != next[i] {
			t.Fatalf("stream %d, line %d, want line %d: %q", i, n, next[i], line)
		}
		next[i]++
	}
	for i, n := range next {
		if n != lines {
			t.Errorf("stream %d: %d lines of %d", i, n, lines)
		}
	}
}

// A process that holds a pipe after its rank has gone does not keep the launcher
// (golang/go#23019).
func TestDrainIsBounded(t *testing.T) {
	r, held, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer held.Close()
	var w writes
	var m Mux
	m.Add(r, Stream{To: NewSink(&w, nil), Prefix: "[0] "})
	if _, err := io.WriteString(held, "said\nhalf"); err != nil {
		t.Fatal(err)
	}
	if cut := m.Drain(50 * time.Millisecond); cut != 1 {
		t.Errorf("%d streams were cut off, want 1", cut)
	}
	if got := w.String(); got != "[0] said\n[0] half\n" {
		t.Errorf("output %q", got)
	}
}

// A console that goes away is dropped with one warning; the process is still read.
func TestConsoleThatGoesAway(t *testing.T) {
	gone := errors.New("broken pipe")
	var warned []error
	sink := NewSink(&writes{err: gone}, func(err error) { warned = append(warned, err) })
	tail := &Tail{Lines: 5}
	s := Stream{To: sink, Prefix: "[0] ", Tail: tail}
	if err := s.Copy(&chunks{"a\n", "b\n", "c\n"}); err != nil {
		t.Fatal(err)
	}
	if len(warned) != 1 || !errors.Is(warned[0], gone) || !errors.Is(sink.Gone(), gone) {
		t.Errorf("warnings %v, gone %v", warned, sink.Gone())
	}
	if diff := cmp.Diff([]string{"a", "b", "c"}, tail.Last()); diff != "" {
		t.Errorf("tail:\n%s", diff)
	}
}

func TestOutputThatIsNotShownIsStillRead(t *testing.T) {
	tail := &Tail{Lines: 2}
	if err := (Stream{Tail: tail}).Copy(strings.NewReader("a\nb\nc\n")); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"b", "c"}, tail.Last()); diff != "" {
		t.Errorf("tail:\n%s", diff)
	}
}

func TestReadErrorIsReturned(t *testing.T) {
	want := errors.New("cannot read")
	r, w := io.Pipe()
	go func() {
		io.WriteString(w, "text")
		w.CloseWithError(want)
	}()
	var out writes
	if err := (Stream{To: NewSink(&out, nil)}).Copy(r); !errors.Is(err, want) {
		t.Errorf("Copy = %v", err)
	}
	if out.String() != "text\n" {
		t.Errorf("output %q", out.String())
	}
}

func TestTail(t *testing.T) {
	tests := []struct {
		name string
		in   []string
		want []string
	}{
		{"nothing", nil, nil},
		{"only line ends", []string{"\n\n"}, nil},
		{"last line open", []string{"a\nb\nc"}, []string{"b", "c"}},
		{"carriage returns", []string{"a\r\nb\r\n"}, []string{"a", "b"}},
		{"a line in pieces", []string{"a\nb", "c\n"}, []string{"a", "bc"}},
		{"no UTF-8", []string{"\xff\n"}, []string{"\uFFFD"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tail := &Tail{Lines: 2}
			for _, s := range tt.in {
				tail.add([]byte(s))
			}
			if diff := cmp.Diff(tt.want, tail.Last()); diff != "" {
				t.Errorf("tail (-want +got):\n%s", diff)
			}
		})
	}
}

func TestTailIsBounded(t *testing.T) {
	for _, piece := range []int{100, tailBytes - 1, tailBytes, 5 * tailBytes} {
		tail := &Tail{Lines: 1 << 20}
		line := bytes.Repeat([]byte("abcdefghi\n"), 1+piece/10)
		for range 50 {
			tail.add(line[:piece])
		}
		lines := tail.Last()
		if total := len(strings.Join(lines, "\n")); total > tailBytes || len(lines) == 0 || cap(tail.buf) > 4*tailBytes {
			t.Errorf("pieces of %d: %d bytes in %d lines, buffer of %d", piece, total, len(lines), cap(tail.buf))
		}
	}
}

// Two sinks of one file take turns; two of different files do not.
func TestSinksOfOneFile(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	out, errs := NewSinks(w, w, nil)
	if out.c != errs.c {
		t.Error("one file has two locks")
	}
	out, errs = NewSinks(w, &writes{}, nil)
	if out.c == errs.c {
		t.Error("two files share a lock")
	}
}

func TestWarningNamesTheStream(t *testing.T) {
	var names []string
	out, errs := NewSinks(&writes{err: io.ErrClosedPipe}, &writes{err: io.ErrClosedPipe}, func(name string, _ error) { names = append(names, name) })
	out.Write([]byte("x"))
	errs.Write([]byte("x"))
	out.Write([]byte("x"))
	if diff := cmp.Diff([]string{"stdout", "stderr"}, names); diff != "" {
		t.Errorf("warnings:\n%s", diff)
	}
}

// blockingWriter says when a write has begun and waits to be let go.
type blockingWriter struct{ begun, goOn chan struct{} }

func (w blockingWriter) Write(p []byte) (int, error) {
	w.begun <- struct{}{}
	<-w.goOn
	return len(p), nil
}

// A process that our own back-pressure holds is told from one that hangs.
func TestPulse(t *testing.T) {
	w := blockingWriter{make(chan struct{}), make(chan struct{})}
	pulse := new(Pulse)
	if _, any := pulse.Last(); any || pulse.Held() {
		t.Error("a new pulse has something to tell")
	}
	before := time.Now()
	var all sync.WaitGroup
	all.Go(func() {
		if err := (Stream{To: NewSink(w, nil), Prefix: "x", Pulse: pulse}).Copy(strings.NewReader("a\n")); err != nil {
			t.Error(err)
		}
	})
	<-w.begun
	if last, any := pulse.Last(); !any || last.Before(before) || !pulse.Held() {
		t.Errorf("while the console blocks: last %v, %v, held %v", last, any, pulse.Held())
	}
	close(w.goOn)
	all.Wait()
	if pulse.Held() {
		t.Error("held after the end")
	}
}
