package logmux

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// start is when the tests of pure parts begin.
var start = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// testLane is a lane of rank 3.
func testLane(p policy) *lane { return &lane{policy: p, prefix: "[3] ", more: "[3]+ "} }

// shown is a batch as a test compares it.
type shownBatch struct {
	Text                  string
	Joined, Replace, Open bool
	Bar                   string // "-" if it is not meant
}

func (l *lane) flush() shownBatch {
	b := shownBatch{Text: string(l.text), Joined: l.joined, Replace: l.replace, Open: l.open, Bar: "-"}
	if l.barred {
		b.Bar = string(l.bar)
	}
	l.clear()
	return b
}

// feed takes all of text, batch by batch.
func (l *lane) feed(now time.Time, text string) string {
	var out strings.Builder
	for chunk := []byte(text); len(chunk) > 0; l.clear() {
		chunk = l.take(now, chunk)
		out.Write(l.text)
	}
	l.since = now
	return out.String()
}

// On a terminal an unfinished line is shown when its process has been silent; what
// follows goes on there.
func TestUnfinishedLines(t *testing.T) {
	l := testLane(policy{live: true})
	l.feed(start, "done\nContinue? [y/N]")
	if due := l.due(); !due.Equal(start.Add(quietAfter)) {
		t.Errorf("due at %v", due.Sub(start))
	}
	steps := []struct {
		name string
		do   func()
		want shownBatch
	}{
		{"silence", func() { l.quiet(start) }, shownBatch{Text: "[3] Continue? [y/N]", Open: true, Bar: "-"}},
		{"more silence", func() { l.quiet(start) }, shownBatch{Bar: "-"}},
		{"a letter", func() { l.take(start, []byte(" y")) }, shownBatch{Bar: "-"}},
		{"silence after it", func() { l.quiet(start) }, shownBatch{Text: " y", Joined: true, Open: true, Bar: "-"}},
		{"the end and another line", func() { l.take(start, []byte("es\nnext\n")) }, shownBatch{Text: "es\n[3] next\n", Joined: true, Bar: "-"}},
		{"a line at once", func() { l.take(start, []byte("at once\n")) }, shownBatch{Text: "[3] at once\n", Bar: "-"}},
		{"half a character", func() { l.take(start, []byte("a\xe2\x82")); l.quiet(start) }, shownBatch{Text: "[3] a", Open: true, Bar: "-"}},
		{"its other half", func() { l.take(start, []byte("\xac")); l.quiet(start) }, shownBatch{Text: "€", Joined: true, Open: true, Bar: "-"}},
		{"half a colour", func() { l.take(start, []byte("\x1b[3")); l.quiet(start) }, shownBatch{Bar: "-"}},
		{"the stream's end", func() { l.end() }, shownBatch{Text: "\x1b[3\n", Joined: true, Bar: "-"}},
		{"nothing after it", func() { l.end() }, shownBatch{Bar: "-"}},
	}
	for _, step := range steps {
		step.do()
		if diff := cmp.Diff(step.want, l.flush()); diff != "" {
			t.Fatalf("%s (-want +got):\n%s", step.name, diff)
		}
	}
	if due := l.due(); !due.IsZero() {
		t.Errorf("due at %v with nothing to show", due)
	}
}

// To a file or pipe go only whole lines.
func TestUnfinishedLinesElsewhere(t *testing.T) {
	l := testLane(policy{})
	got := l.feed(start, "half")
	l.quiet(start.Add(time.Hour))
	got += string(l.text)
	if got != "" || !l.due().IsZero() {
		t.Errorf("%q was shown", got)
	}
}

// A long line whose beginning the terminal shows already: its first piece ends where
// it would without that.
func TestLongUnfinishedLine(t *testing.T) {
	l := testLane(policy{live: true})
	l.feed(start, strings.Repeat("x", 100))
	l.quiet(start)
	first := l.flush()
	rest := l.feed(start, strings.Repeat("x", MaxLine)+"end\n")
	if want := strings.Repeat("x", MaxLine-100) + "\n[3]+ " + strings.Repeat("x", 100) + "end\n"; rest != want || len(first.Text) != 104 {
		t.Errorf("%d bytes, then %d: want %d", len(first.Text), len(rest), len(want))
	}
}

// A batch holds whole lines and does not grow with the number of prefixes.
func TestBatchesAreBounded(t *testing.T) {
	l := testLane(policy{})
	l.prefix = strings.Repeat("p", 100)
	lines := 0
	for chunk := bytes.Repeat([]byte("\n"), readSize); len(chunk) > 0; l.clear() {
		chunk = l.take(start, chunk)
		if len(l.text) > fullBatch+MaxLine+len(l.prefix) || l.text[len(l.text)-1] != '\n' {
			t.Fatalf("a batch of %d bytes", len(l.text))
		}
		lines += l.lines
	}
	if lines != readSize {
		t.Errorf("%d lines of %d", lines, readSize)
	}
}

// A batch that is not shown takes the whole of its last line with it.
func TestSkippedLines(t *testing.T) {
	long := strings.Repeat("x", MaxLine+10)
	tests := []struct {
		name      string
		in        string
		want      int
		next, out string
	}{
		{"whole lines", "a\nb\n", 2, "c\n", "[3] c\n"},
		{"an unfinished line is kept", "a\nb", 1, "c\n", "[3] bc\n"},
		{"the rest of a long line goes, too", "a\n" + long, 2, "rest\nc\n", "[3] c\n"},
		{"also in pieces", long, 1, long + "\nc\n", "[3] c\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			l := testLane(policy{})
			if left := l.take(start, []byte(tt.in)); len(left) > 0 {
				t.Fatal("more than a batch")
			}
			if n := l.skipped(); n != tt.want {
				t.Errorf("%d lines skipped, want %d", n, tt.want)
			}
			l.clear()
			if got := l.feed(start, tt.next); got != tt.out {
				t.Errorf("then %q, want %q", got, tt.out)
			}
		})
	}
}

// A skipped end of a line that the terminal shows unfinished does not go on there.
func TestSkippedEndOfAnUnfinishedLine(t *testing.T) {
	l := testLane(policy{live: true})
	l.feed(start, "half")
	l.quiet(start)
	l.clear()
	l.take(start, []byte(" and half\n"))
	if n := l.skipped(); n != 1 {
		t.Errorf("%d lines", n)
	}
	l.clear()
	l.take(start, []byte("next\n"))
	if got := l.flush(); got.Joined || got.Text != "[3] next\n" {
		t.Errorf("%+v", got)
	}
}

func TestRaw(t *testing.T) {
	l := testLane(policy{live: true})
	l.raw([]byte("a\r\x00"))
	if diff := cmp.Diff(shownBatch{Text: "a\r\x00", Open: true, Bar: "-"}, l.flush()); diff != "" {
		t.Error(diff)
	}
	l.raw([]byte("b\nc\n"))
	if l.lines != 2 {
		t.Errorf("%d lines", l.lines)
	}
	if diff := cmp.Diff(shownBatch{Text: "b\nc\n", Joined: true, Bar: "-"}, l.flush()); diff != "" {
		t.Error(diff)
	}
	l.end()
	if got := l.flush(); got.Text != "" {
		t.Errorf("%+v", got)
	}
}

// pieces cuts text into reads of the sizes that data says.
func pieces(text, sizes []byte) [][]byte {
	var out [][]byte
	scale := 1 + len(text)/4096 // of a long text they are not so small that the test takes seconds
	for i := 0; len(text) > 0; i++ {
		n := len(text)
		if len(sizes) > 0 {
			n = min(n, scale*(1+int(sizes[i%len(sizes)])))
		}
		out, text = append(out, text[:n]), text[n:]
	}
	return out
}

// With all states kept nothing is lost or altered, whatever is written and however it
// is read: without prefixes and added line ends the text is the process's.
func FuzzLaneKeepsEveryByte(f *testing.F) {
	for _, text := range []string{"a\nb", "\r\r\n\r", "\x1b[31mé€😀\n", "10%\r20%\r100%\n", "[3]+ x\n"} {
		f.Add([]byte(text), []byte{0, 3})
	}
	f.Add(bytes.Repeat([]byte("é"), MaxLine), []byte{255})
	f.Fuzz(func(t *testing.T, text, sizes []byte) {
		// The marks are bytes that the text has not, so that it cannot look like one.
		text = bytes.Map(func(r rune) rune {
			if r == 1 || r == 2 {
				return ' '
			}
			return r
		}, text)
		for _, p := range []policy{{keepCR: true}, {keepCR: true, live: true}} {
			l := &lane{policy: p, prefix: "\x01", more: "\x02"}
			var got []byte
			for i, chunk := range pieces(text, sizes) {
				for len(chunk) > 0 {
					chunk = l.take(start, chunk)
					got = append(got, l.text...)
					l.clear()
				}
				if i%2 == 1 {
					l.quiet(start)
					got = append(got, l.text...)
					l.clear()
				}
			}
			l.end()
			got = append(got, l.text...)
			got = bytes.ReplaceAll(got, []byte("\n\x02"), nil)
			got = bytes.ReplaceAll(got, []byte{1}, nil)
			want := text
			if len(text) > 0 && !bytes.HasSuffix(text, []byte{'\n'}) {
				want = append(bytes.Clone(text), '\n')
			}
			if !bytes.Equal(got, want) {
				t.Errorf("live %v: %q became %q", p.live, text, got)
			}
		}
	})
}

// However a line is read, it is shown the same way.
func TestReadsDoNotMatter(t *testing.T) {
	text := strings.Repeat("0123456789\n", 3000) + strings.Repeat("y€", MaxLine) + "\r\nend\n"
	want := testLane(policy{}).feed(start, text)
	for range 20 {
		l, rest, got := testLane(policy{}), text, ""
		for rest != "" {
			n := min(len(rest), 1+rand.IntN(9000))
			got += l.feed(start, rest[:n])
			rest = rest[n:]
		}
		if got != want {
			t.Fatalf("%d bytes, want %d", len(got), len(want))
		}
	}
}
