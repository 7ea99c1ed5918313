package screen

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

func TestDecode(t *testing.T) {
	tests := []struct {
		name, text string
		keys       []Key
		rest       string
	}{
		{"nothing", "", nil, ""},
		{"letters", "qK", []Key{'q', 'K'}, ""},
		{"more than ASCII", "é木", []Key{'é', '木'}, ""},
		{"half a character", "q\xc3", []Key{'q'}, "\xc3"},
		{"no character", "\xff", []Key{utf8.RuneError}, ""},
		{"arrows", "\x1b[A\x1b[B", []Key{KeyUp, KeyDown}, ""},
		{"arrows of application mode", "\x1bOA\x1bOB", []Key{KeyUp, KeyDown}, ""},
		{"pages", "\x1b[5~\x1b[6~", []Key{KeyPageUp, KeyPageDown}, ""},
		{"ends", "\x1b[H\x1b[F\x1b[1~\x1b[4~\x1bOH\x1bOF\x1b[7~\x1b[8~", []Key{KeyHome, KeyEnd, KeyHome, KeyEnd, KeyHome, KeyEnd, KeyHome, KeyEnd}, ""},
		{"keys that mean nothing", "\x1b[15~\x1bx\x1b[1;5Cq", []Key{'q'}, ""},
		{"twice escape", "\x1b\x1b[A", []Key{KeyUp}, ""},
		{"a lone escape", "\x1b", nil, "\x1b"},
		{"half a sequence", "j\x1b[", []Key{'j'}, "\x1b["},
		{"half another", "\x1bO", nil, "\x1bO"},
		{"a sequence without an end", "\x1b[" + strings.Repeat("1", 40) + "q", nil, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			keys, rest := decode([]byte(tt.text))
			if diff := cmp.Diff(tt.keys, keys); diff != "" || string(rest) != tt.rest {
				t.Errorf("rest %q, want %q (-want +got):\n%s", rest, tt.rest, diff)
			}
		})
	}
}

// Keys come in whatever pieces the line gives.
func TestDecodeInPieces(t *testing.T) {
	const text = "a\x1b[Aé\x1bOB\x1b[6~q"
	want, _ := decode([]byte(text))
	var got []Key
	var rest []byte
	for i := range len(text) {
		var keys []Key
		keys, rest = decode(append(rest, text[i]))
		got = append(got, keys...)
	}
	if diff := cmp.Diff(want, got); diff != "" || len(rest) != 0 {
		t.Errorf("rest %q (-whole +pieces):\n%s", rest, diff)
	}
}

// What is typed, or pasted, is foreign input.
func FuzzDecode(f *testing.F) {
	f.Add([]byte("q\x1b[A\x1b[200~paste\x1b[201~"))
	f.Fuzz(func(t *testing.T, text []byte) {
		keys, rest := decode(text)
		if len(keys) > len(text) || len(rest) > longestSequence {
			t.Errorf("%d keys and %d bytes left of %d", len(keys), len(rest), len(text))
		}
	})
}
