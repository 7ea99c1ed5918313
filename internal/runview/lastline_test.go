package runview

import (
	"path/filepath"
	"strings"
	"testing"
)

func TestReadLast(t *testing.T) {
	d := newDirectory(t)
	tests := []struct{ name, text, want string }{
		{"one", "a\nb\n", "b"},
		{"no end", "a\nb", "b"},
		{"blank lines behind it", "a\nb\n\n \x1b[0m\n", "b"},
		{"a progress bar", "a\n\r 1%\r 2%\r 3%", "3%"},
		{"a progress bar that was cleared", "a\n\r 1%\r 2%\r\x1b[K", "2%"},
		{"a line end of another system", "a\r\nb\r\n", "b"},
		{"colours", "\x1b[31mred\x1b[0m\n", "red"},
		{"a steering wheel", "a\x1b]0;t\x07\x00b\n", "a\uFFFDb"},
		{"no line at all", "\n\n", ""},
		{"a long file", strings.Repeat("x\n", 100_000) + "end\n", "end"},
		{"a long line", strings.Repeat("x", 100_000), strings.Repeat("x", 399) + "…"},
	}
	for _, tt := range tests {
		d.write("log", tt.text)
		if got := readLast(filepath.Join(d.path, "log"), int64(len(tt.text))); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

func FuzzReadLast(f *testing.F) {
	f.Add("a\n\r 1%\r 2%\x1b[K\n")
	f.Fuzz(func(t *testing.T, text string) {
		d := newDirectory(t)
		d.write("log", text)
		if got := readLast(filepath.Join(d.path, "log"), int64(len(text))); oneLine(got) != got {
			t.Errorf("%q becomes %q", text, got)
		}
	})
}

// The last line of a rank is that of the stream it wrote to last.
func TestLastLineOfARank(t *testing.T) {
	d := newDirectory(t)
	var last lastLines
	expect := func(want string) {
		t.Helper()
		if got := last.of(d.path, 3); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	expect("")
	d.write("rank-3.out", "out\n")
	d.modified("rank-3.out", 5)
	d.write("rank-3.err", "err\n")
	d.modified("rank-3.err", 4)
	expect("out")
	d.modified("rank-3.err", 6)
	expect("err")
	// It is not read again before it changes, and then it is.
	d.write("rank-3.err", "ERR\n")
	d.modified("rank-3.err", 6)
	expect("err")
	d.modified("rank-3.err", 7)
	expect("ERR")
	// A file that has just been rotated is empty.
	d.write("rank-3.err.1", "rotated\n")
	d.modified("rank-3.err.1", 8)
	d.write("rank-3.err", "")
	expect("rotated")
	// Links and directories are no output.
	d.mkdir("rank-4.out")
	if got := last.of(d.path, 4); got != "" {
		t.Errorf("%q", got)
	}
}
