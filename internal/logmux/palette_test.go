package logmux

import (
	"math"
	"testing"
)

// Each colour can be read on black and on white: contrast as WCAG 2 computes it.
func TestPaletteIsReadable(t *testing.T) {
	linear := func(level int) float64 {
		c := float64([]int{0, 95, 135, 175, 215, 255}[level]) / 255
		if c <= 0.03928 {
			return c / 12.92
		}
		return math.Pow((c+0.055)/1.055, 2.4)
	}
	seen := map[int]bool{}
	for _, n := range palette {
		cube := n - 16
		l := 0.2126*linear(cube/36) + 0.7152*linear(cube/6%6) + 0.0722*linear(cube%6)
		onBlack, onWhite := (l+0.05)/0.05, 1.05/(l+0.05)
		if onBlack < 3.6 || onWhite < 3.6 {
			t.Errorf("colour %d: %.1f on black, %.1f on white", n, onBlack, onWhite)
		}
		if seen[n] {
			t.Errorf("colour %d comes twice", n)
		}
		seen[n] = true
	}
}

func TestPainted(t *testing.T) {
	for _, tt := range []struct {
		prefix string
		color  int
		want   string
	}{
		{"[3] ", 0, "[3] "},
		{"", 1, ""},
		{"  ", 1, "  "},
		{"[3] ", 1, "\x1b[0;38;5;31m[3]\x1b[0m "},
		{"[3]", 1 + len(palette), "\x1b[0;38;5;31m[3]\x1b[0m"},
	} {
		if got := Painted(tt.prefix, tt.color); got != tt.want {
			t.Errorf("%q in %d: %q, want %q", tt.prefix, tt.color, got, tt.want)
		}
	}
}

func TestColored(t *testing.T) {
	for _, tt := range []struct {
		name string
		env  map[string]string
		want bool
	}{
		{"a terminal", map[string]string{"TERM": "xterm"}, true},
		{"an empty NO_COLOR says nothing", map[string]string{"TERM": "xterm", "NO_COLOR": ""}, true},
		{"NO_COLOR", map[string]string{"TERM": "xterm", "NO_COLOR": "0"}, false},
		{"dumb", map[string]string{"TERM": "dumb"}, false},
		{"no name", nil, false},
	} {
		if got := Colored(tt.env); got != tt.want {
			t.Errorf("%s: %v", tt.name, got)
		}
	}
}
