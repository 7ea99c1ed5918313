package runview

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

func TestClean(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"plain", "a b\n\tc é 日本", "a b\n\tc é 日本"},
		{"colours", "\x1b[1;31mred\x1b[0m", "red"},
		{"cursor", "\x1b[2J\x1b[Hx", "x"},
		{"title, ended by BEL", "\x1b]0;evil\x07x", "x"},
		{"title, ended by ST", "\x1b]0;evil\x1b\\x", "x"},
		{"title without an end", "x\x1b]0;evil", "x"},
		{"other sequences", "\x1b(B\x1b7\x1bMx", "x"},
		{"a lone escape", "a\x1b", "a\uFFFD"},
		{"controls", "a\x00b\x07c\x7fd\u0085e\u009b31mf", "a\uFFFDb\uFFFDc\uFFFDd\uFFFDe\uFFFD31mf"},
		{"carriage returns", "a\r\nb\rc", "a\nb\uFFFDc"},
		{"no UTF-8", "a\xffb", "a\uFFFDb"},
		{"direction of text", "a\u202Eb\u2066c", "a\uFFFDb\uFFFDc"},
		{"line ends of Unicode", "a\u2028b\u2029c", "a\uFFFDb\uFFFDc"},
	}
	for _, tt := range tests {
		if got := clean(tt.text); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

// What a worker wrote must not steer a terminal, whatever it is.
func FuzzClean(f *testing.F) {
	f.Add("\x1b[31mred\x1b]0;t\x07\r\n\u202e")
	f.Fuzz(func(t *testing.T, text string) {
		for _, out := range []string{clean(text), oneLine(text), clipMiddle(clean(text), 100), short(text, 20), cleanText(text)} {
			if !utf8.ValidString(out) {
				t.Errorf("%q becomes %q, which is no UTF-8", text, out)
			}
			for _, r := range out {
				if unicode.IsControl(r) && r != '\n' && r != '\t' || steers(r) {
					t.Errorf("%q becomes %q with %U", text, out, r)
				}
			}
		}
		if strings.ContainsAny(oneLine(text), "\n\t") {
			t.Errorf("%q becomes lines: %q", text, oneLine(text))
		}
	})
}

func TestOneLine(t *testing.T) {
	if got := oneLine("a\n\tb\nc\n"); got != "a b c" {
		t.Errorf("%q", got)
	}
}

func TestClip(t *testing.T) {
	tests := []struct {
		text string
		most int
		want string
	}{{"abc", 3, "abc"}, {"abcd", 3, "ab…"}, {"日本語で", 3, "日本…"}, {"", 3, ""}, {"ab", 1, "…"}}
	for _, tt := range tests {
		if got := clip(tt.text, tt.most); got != tt.want {
			t.Errorf("%q to %d: %q, want %q", tt.text, tt.most, got, tt.want)
		}
	}
}

// The end of a traceback is worth more than its beginning.
func TestClipMiddle(t *testing.T) {
	if got := clipMiddle("short\ntext", 100); got != "short\ntext" {
		t.Errorf("%q", got)
	}
	text := "the beginning\n" + strings.Repeat("a line in the middle\n", 1000) + "ValueError: the end"
	got := clipMiddle(text, 1000)
	if !strings.HasPrefix(got, "the beginning\n") || !strings.HasSuffix(got, "\nValueError: the end") || len(got) > 1100 || !strings.Contains(got, "left out") {
		t.Errorf("%d bytes: %q", len(got), got)
	}
	// Without line ends it is cut all the same, and no character is.
	got = clipMiddle(strings.Repeat("日", 1000), 100)
	if len(got) > 200 || !utf8.ValidString(got) {
		t.Errorf("%d bytes: %q", len(got), got)
	}
}

func TestIndented(t *testing.T) {
	if diff := cmp.Diff([]string{"  a", "", "    b"}, indented("a\n\n  b\n\n", "  ")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestCells(t *testing.T) {
	tests := map[string]int{"": 0, "abc": 3, "é": 1, "e\u0301": 1, "日本語": 6, "한글": 4, "…✖▲": 3, "🙂": 2, "a\u200db": 2, "｡ｱ": 2, "Ａ": 2}
	for text, want := range tests {
		if got := cells(text); got != want {
			t.Errorf("%q: %d, want %d", text, got, want)
		}
	}
}
