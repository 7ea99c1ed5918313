package wording

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestBoundary(t *testing.T) {
	for in, want := range map[string]int{
		"": 0, "a": 1, "a€": 4, "a\xe2": 1, "a\xe2\x82": 1, "a\xf0\x9f\x98": 1, "\xe2": 1, "a\xff": 2, "a\x80\x80\x80\x80": 5,
	} {
		if got := Boundary([]byte(in)); got != want {
			t.Errorf("%q: %d, want %d", in, got, want)
		}
	}
}

func TestSpans(t *testing.T) {
	tests := []struct {
		list []int
		want string
	}{
		{nil, ""}, {[]int{3}, "3"}, {[]int{0, 1, 2, 5}, "0-2,5"}, {[]int{5, 2, 1, 0}, "0-2,5"},
		{[]int{1, 1, 2}, "1-2"}, {[]int{1, 3, 5}, "1,3,5"}, {[]int{7, 8}, "7-8"},
	}
	for _, tt := range tests {
		if got := Spans(tt.list); got != tt.want {
			t.Errorf("%v: %q, want %q", tt.list, got, tt.want)
		}
	}
}

func TestSpansOfAnyOrder(t *testing.T) {
	for want, list := range map[string][]int{
		"0": {0}, "0-2": {2, 0, 1}, "0,2": {2, 0}, "0-1,3,5-7": {7, 5, 6, 3, 0, 1, 1}, "": nil,
	} {
		if got := Spans(list); got != want {
			t.Errorf("Spans(%v) = %q, want %q", list, got, want)
		}
	}
}

// A line to copy is as plain as it may be, and a shell reads the words that were meant.
func TestShellWord(t *testing.T) {
	words := []string{"/var/run-7/journal_1.x", "/my runs/a", "it's", "", "$(id)", "a;b", "~", "ä", "-x", "k=v,w:@%+"}
	var line strings.Builder
	for _, w := range words {
		line.WriteString(" " + ShellWord(w))
	}
	out, err := exec.Command("sh", "-c", `printf '%s\n' `+line.String()).Output()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Join(words, "\n")+"\n", string(out)); diff != "" {
		t.Errorf("words (-want +got):\n%s", diff)
	}
	for _, w := range []string{words[0], words[len(words)-1], "-x"} {
		if ShellWord(w) != w {
			t.Errorf("%s was quoted", w)
		}
	}
}
