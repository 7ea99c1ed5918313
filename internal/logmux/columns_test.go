package logmux

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestFit(t *testing.T) {
	tests := []struct {
		name    string
		in      string
		columns int
		want    string
	}{
		{"it fits", "abc", 3, "abc"},
		{"it does not", "abcd", 3, "abc"},
		{"no room at all", "abc", 0, ""},
		{"a wide character that has half its room", "a日本", 4, "a日"},
		{"an emoji", "😀😀", 3, "😀"},
		{"an accent takes none", "e\u0301e\u0301x", 2, "e\u0301e\u0301"},
		{"blocks of a bar", "██▌ |", 3, "██▌"},
		{"colours take none and stay", "\x1b[31mred\x1b[0m!", 3, "\x1b[31mred\x1b[0m"},
		{"what moves the cursor is left out", "a\x1b[Ab\x1b[2Kc\x1bMd", 9, "abcd"},
		{"control characters are left out", "a\tb\x07c\x7f", 9, "abc"},
		{"bytes that are no text are left out", "a\xff\xe2b", 9, "ab"},
		{"an escape that is not whole is no escape", "a\x1b[3", 9, "a[3"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := string(fit(nil, []byte(tt.in), tt.columns)); got != tt.want {
				t.Errorf("%q, want %q", got, tt.want)
			}
		})
	}
}

func TestWholeEscapes(t *testing.T) {
	for in, want := range map[string]int{
		"": 0, "abc": 3, "a\x1b": 1, "a\x1b[": 1, "a\x1b[31": 1, "a\x1b[31m": 6, "a\x1bM": 3,
		"a\x1b[" + strings.Repeat("0", 100): 103,
	} {
		if got := wholeEscapes([]byte(in)); got != want {
			t.Errorf("%.10q: %d, want %d", in, got, want)
		}
	}
}

func TestBlank(t *testing.T) {
	for in, want := range map[string]bool{"": true, "   ": true, "\x1b[K \x1b[0m": true, " a": false, "\x1b": false, "\t": false} {
		if got := blank([]byte(in)); got != want {
			t.Errorf("%q: %v", in, got)
		}
	}
}

// Whatever a bar holds, what is drawn stays in its line and within its columns.
func FuzzFit(f *testing.F) {
	f.Add([]byte("\x1b[31m10%|███| é日😀\x1b[0m\x1b[A\n\r\t"), uint8(9))
	f.Add([]byte("\x1b[31\xc0m10%|\x1b[3\x07m\x1b[\x1b[0m"), uint8(99)) // broken ones
	f.Fuzz(func(t *testing.T, text []byte, columns uint8) {
		got := fit(nil, text, int(columns))
		used := 0
		for rest := got; len(rest) > 0; {
			if n, _ := escape(rest); n > 0 {
				if rest[n-1] != 'm' {
					t.Fatalf("%q moves the cursor", rest[:n])
				}
				rest = rest[n:]
				continue
			}
			r, n := utf8.DecodeRune(rest)
			if r < ' ' || r == utf8.RuneError && n == 1 {
				t.Fatalf("%q in %q", rest[:n], got)
			}
			used += width(r)
			rest = rest[n:]
		}
		if used > int(columns) {
			t.Errorf("%d columns of %d: %q", used, columns, got)
		}
		if !utf8.Valid(got) || bytes.ContainsAny(got, "\r\n") {
			t.Errorf("%q", got)
		}
	})
}
