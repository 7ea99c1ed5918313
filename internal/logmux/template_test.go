package logmux

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestTemplate(t *testing.T) {
	place := Place{Rank: 7, World: 128, Local: 3, LocalWorld: 8, Node: 2, Nodes: 16, Attempt: 1, Host: "n02", Role: "trainer", RunID: "j-1"}
	for _, tt := range []struct{ text, prefix, more string }{
		{"", "", ""},
		{DefaultTemplate, "[  7] ", "[  7]+ "},
		{"[{role}{rank}]:", "[trainer  7]:", "[trainer  7]:+"},
		{"{host}/{local_rank} n{node} a{attempt} {run_id}| ", "n02/3 n 2 a1 j-1| ", "n02/3 n 2 a1 j-1|+ "},
		{"{time} [{rank}] ", "03:04:05.000 [  7] ", "03:04:05.000 [  7]+ "},
		{"{{{rank}}} ", "{  7} ", "{  7}+ "},
		{"no field ", "no field ", "no field+ "},
		{"→ ", "→ ", "→+ "},
	} {
		parsed, err := ParseTemplate(tt.text)
		if err != nil {
			t.Errorf("%q: %v", tt.text, err)
			continue
		}
		prefix := parsed.Expand(place, start)
		if prefix != tt.prefix || Continued(prefix) != tt.more {
			t.Errorf("%q: %q and %q, want %q and %q", tt.text, prefix, Continued(prefix), tt.prefix, tt.more)
		}
		if parsed.Timed() != strings.Contains(tt.text, "{time}") {
			t.Errorf("%q: timed %v", tt.text, parsed.Timed())
		}
	}
}

func TestTemplateErrors(t *testing.T) {
	for text, want := range map[string]string{
		"{rnak} ":     "cannot read the prefix \"{rnak} \": {rnak} is no field: there are {rank}, {local_rank}, {host}, {node}, {attempt}, {time}, {role}, {run_id}",
		"[{rank ":     "cannot read the prefix \"[{rank \": a { without its }: write {{ for the brace itself",
		"[rank}] ":    "cannot read the prefix \"[rank}] \": a } without its {: write }} for the brace itself",
		"{}":          "cannot read the prefix \"{}\": {} is no field: there are {rank}, {local_rank}, {host}, {node}, {attempt}, {time}, {role}, {run_id}",
		"a\nb":        "cannot read the prefix \"a\\nb\": character 2 is no text",
		"é\x1b[31m":   "cannot read the prefix \"é\\x1b[31m\": character 2 is no text",
		"bad \xff":    "cannot read the prefix \"bad \\xff\": character 5 is no text",
		"{rank}}":     "cannot read the prefix \"{rank}}\": a } without its {: write }} for the brace itself",
		"{ra{nk}}":    "cannot read the prefix \"{ra{nk}}\": {ra{nk} is no field: there are {rank}, {local_rank}, {host}, {node}, {attempt}, {time}, {role}, {run_id}",
		"{{rank} {}}": "cannot read the prefix \"{{rank} {}}\": a } without its {: write }} for the brace itself",
	} {
		if _, err := ParseTemplate(text); err == nil || err.Error() != want {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

func TestLabel(t *testing.T) {
	fixed, err := ParseTemplate(DefaultTemplate)
	if err != nil {
		t.Fatal(err)
	}
	var s Stream
	fixed.Label(&s, Place{Rank: 1, World: 2})
	if s.Prefix != "[1] " || s.Continuation != "[1]+ " || s.Stamp != nil {
		t.Errorf("%+v", s)
	}
	timed, err := ParseTemplate("{time} {rank} ")
	if err != nil {
		t.Fatal(err)
	}
	timed.Label(&s, Place{Rank: 1, World: 2})
	if s.Stamp == nil || s.Stamp(start.Add(1500*time.Millisecond)) != "03:04:06.500 1 " {
		t.Error("no time in the prefix")
	}
}

// The prefix changes with the time, and a read's lines have its time.
func TestStamp(t *testing.T) {
	var w writes
	n := 0
	s := Stream{To: NewSink(&w, nil), Stamp: func(time.Time) string {
		n++
		return strings.Repeat("|", n) + " "
	}}
	if err := s.Copy(&chunks{"a\nb\n", "c\n"}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"| a\n| b\n", "|| c\n"}, w.all); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A template that is read can be expanded, and braces come in pairs.
func FuzzTemplate(f *testing.F) {
	f.Add("{time} [{rank}] {{}}")
	f.Add("{")
	f.Fuzz(func(t *testing.T, text string) {
		parsed, err := ParseTemplate(text)
		if err != nil {
			return
		}
		out := parsed.Expand(Place{Host: "h", Role: "r"}, start)
		if strings.ContainsAny(out, "\n\r") {
			t.Errorf("%q became %q", text, out)
		}
		if !strings.ContainsAny(text, "{}") && out != text {
			t.Errorf("%q became %q", text, out)
		}
	})
}
