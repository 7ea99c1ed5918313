package runview

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

// pieces reads all lines; those that go on with the one before begin with "+".
func pieces(t *testing.T, l *liner) []string {
	t.Helper()
	var list []string
	add := func(p piece) {
		text := string(p.text)
		if p.more {
			text = "+" + text
		}
		list = append(list, text)
	}
	for {
		p, err := l.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		add(p)
	}
	if p, ok := l.last(); ok {
		add(p)
	}
	return list
}

func TestLines(t *testing.T) {
	long := strings.Repeat("x", maxLine)
	tests := []struct {
		name, text string
		want       []string
	}{
		{"empty", "", nil},
		{"lines", "a\nb\n\nc\n", []string{"a", "b", "", "c"}},
		{"no end", "a\nb", []string{"a", "b"}},
		{"only an end", "\n", []string{""}},
		{"ends of another system", "a\r\nb\r\n", []string{"a", "b"}},
		{"a progress bar", "\r 1%\r 2%\r 3%\ndone\n", []string{" 3%", "done"}},
		{"a progress bar without an end", "a\n1%\r2%\r3%\r", []string{"a", "3%"}},
		{"binary", "a\x00b\xff\nc", []string{"a\x00b\xff", "c"}},
		{"as long as it may be", long + "\nb\n", []string{long, "b"}},
		{"too long by one", long + "y\nb\n", []string{long, "+y", "b"}},
		{"much too long", long + long + "z", []string{long, "+" + long, "+z"}},
		{"long, ends with a piece", long + long + "\nb", []string{long, "+" + long, "b"}},
		{"a long bar", strings.Repeat("\r 10%|####|", 20_000) + "\r100%\nb\n", []string{"100%", "b"}},
		{"a bar behind a long line", long + "y\r1%\r2%\n", []string{long, "+2%"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for name, r := range map[string]io.Reader{
				"at once": strings.NewReader(tt.text), "in halves": iotest.HalfReader(strings.NewReader(tt.text)),
				"with the error": iotest.DataErrReader(strings.NewReader(tt.text)),
			} {
				l := &liner{r: r}
				if diff := cmp.Diff(tt.want, pieces(t, l)); diff != "" {
					t.Errorf("%s (-want +got):\n%.2000s", name, diff)
				}
				if l.read != int64(len(tt.text)) {
					t.Errorf("%s: %d bytes counted of %d", name, l.read, len(tt.text))
				}
			}
		})
	}
}

// A character that does not fit into a piece goes into the next.
func TestLinesDoNotCutCharacters(t *testing.T) {
	for shift := range 4 {
		text := strings.Repeat("x", shift) + strings.Repeat("日", maxLine)
		list := pieces(t, &liner{r: strings.NewReader(text)})
		joined := ""
		for _, p := range list {
			if !utf8.ValidString(p) {
				t.Errorf("shift %d: a piece of %d bytes is cut", shift, len(p))
			}
			joined += strings.TrimPrefix(p, "+")
		}
		if joined != text {
			t.Errorf("shift %d: the pieces are not the line", shift)
		}
	}
}

// What a worker writes is foreign, and so is how it comes in pieces.
func FuzzLines(f *testing.F) {
	f.Add([]byte("a\r\n\rb\n\xffc"), 3)
	f.Fuzz(func(t *testing.T, text []byte, step int) {
		l := &liner{r: &stepReader{text: text, step: max(step, 1)}}
		total := 0
		for _, p := range pieces(t, l) {
			total += len(p)
			if strings.ContainsAny(strings.TrimPrefix(p, "+"), "\n\r") {
				t.Errorf("a line with a line end: %q", p)
			}
			if len(p) > maxLine+1 {
				t.Errorf("a piece of %d bytes", len(p))
			}
		}
		if l.read != int64(len(text)) {
			t.Errorf("%d bytes counted of %d", l.read, len(text))
		}
		if !bytes.ContainsAny(text, "\r") && len(text) < maxLine && total != len(text)-bytes.Count(text, []byte("\n")) {
			t.Errorf("%d bytes shown of %q", total, text)
		}
	})
}

// stepReader gives so many bytes at a time.
type stepReader struct {
	text []byte
	step int
}

func (r *stepReader) Read(p []byte) (int, error) {
	if len(r.text) == 0 {
		return 0, io.EOF
	}
	n := copy(p[:min(len(p), r.step)], r.text)
	r.text = r.text[n:]
	return n, nil
}

// A file that grows is read on where it ended, also within a line.
func TestLinesFollow(t *testing.T) {
	var file bytes.Buffer
	l := &liner{r: &file}
	var got []string
	for _, text := range []string{"a", "b\nc", "", "\n\r1%", "\r2", "%\r", "\n"} {
		file.WriteString(text)
		for {
			p, err := l.next()
			if err != nil {
				break
			}
			got = append(got, string(p.text))
		}
	}
	if diff := cmp.Diff([]string{"ab", "c", "2%"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestBarInAnUnfinishedLine(t *testing.T) {
	for text, want := range map[string]string{"": "", "abc": "", "\r 1%": "", "\r 1%\r": " 1%", "\r 1%\r 2": " 1%", "1%\r2%\r3": "2%", "1%\r": "1%"} {
		l := &liner{r: strings.NewReader(text)}
		if _, err := l.next(); !errors.Is(err, io.EOF) {
			t.Fatal(err)
		}
		state, ok := l.bar()
		if string(state) != want || ok != (want != "") {
			t.Errorf("%q: %q, %v", text, state, ok)
		}
	}
}

// empty is a reader that breaks the contract.
type empty struct{}

func (empty) Read([]byte) (int, error) { return 0, nil }

func TestLinesOfABrokenReader(t *testing.T) {
	if _, err := (&liner{r: empty{}}).next(); err == nil {
		t.Error("no error")
	}
	disk := errors.New("input/output error")
	if _, err := (&liner{r: iotest.ErrReader(disk)}).next(); !errors.Is(err, disk) {
		t.Errorf("%v", err)
	}
}
