package ranks

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

// Of a list as long as a page the message shows the beginning and the place.
func TestListErrorOfALongText(t *testing.T) {
	text := strings.Repeat("node[001-099],", 50) + "node[7-]"
	_, err := Hostlist(text)
	want := &ListError{Kind: "host list", Text: text, Offset: len(text) - 1, Problem: "expected a number"}
	if diff := cmp.Diff(error(want), err); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	message := `cannot read host list "node[001-099],node[001-099],node[001-099],node[001-099],node[001..." ` +
		`at byte 707 ("]"): expected a number`
	if err.Error() != message {
		t.Errorf(" got %s\nwant %s", err, message)
	}
}

func TestListErrorKeepsToOneLine(t *testing.T) {
	for _, text := range []string{"n[\n1]", "n\x1b[2J", "n\x00", "\xff", "n[1\r]"} {
		_, err := Hostlist(text)
		if err == nil {
			t.Errorf("%q is read", text)
			continue
		}
		checkListError(t, text, err)
		if message := err.Error(); strings.ContainsAny(message, "\x1b\x00") || !utf8.ValidString(message) {
			t.Errorf("%q goes to the terminal as it is: %q", text, err.Error())
		}
	}
}

func TestShown(t *testing.T) {
	for text, want := range map[string]string{
		"n1.example.com": "n1.example.com", "::1": "::1", "": "", "a b": `"a b"`, "a\nb": `"a\nb"`, "$(x)": `"$(x)"`,
		strings.Repeat("n", 70): strings.Repeat("n", 64) + "...",
	} {
		if got := shown(text); got != want {
			t.Errorf("%q is shown as %s, want %s", text, got, want)
		}
	}
}
