package tree

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"lenslaunch/internal/proc"
)

const boot = "0123456789abcdef0123456789abcdef"

func sample() Mark {
	return Mark{Launcher: proc.ID{Pid: 4711, Start: 8839201}, Boot: boot, Attempt: 2, Random: 0xabc}
}

const sampleToken = "ll1.4711.8839201." + boot + ".2.0000000000000abc"

func TestMarkText(t *testing.T) {
	m := sample()
	if m.String() != sampleToken || m.Value(12) != sampleToken+"/12" {
		t.Errorf("%v, %v", m, m.Value(12))
	}
	if got, ok := ParseMark(sampleToken); !ok || got != m {
		t.Errorf("ParseMark = %+v, %v", got, ok)
	}
	if m.IsZero() || !(Mark{}).IsZero() {
		t.Error("IsZero")
	}
}

// Only exactly what String writes is a mark: each of these is somebody else's text.
func TestParseMarkIsExact(t *testing.T) {
	for _, bad := range []string{
		"", ".", ".....", "ll1", sampleToken + " ", " " + sampleToken, sampleToken + "\n", sampleToken + ".", sampleToken + "0",
		sampleToken[:len(sampleToken)-1], strings.ToUpper(sampleToken),
		strings.Replace(sampleToken, "ll1", "ll2", 1),
		strings.Replace(sampleToken, "4711", "+4711", 1),
		strings.Replace(sampleToken, "4711", "04711", 1),
		strings.Replace(sampleToken, "4711", "0", 1),
		strings.Replace(sampleToken, "4711", "-4711", 1),
		strings.Replace(sampleToken, "4711", "99999999999999999999", 1),
		strings.Replace(sampleToken, "8839201", "-1", 1),
		strings.Replace(sampleToken, "8839201", "18446744073709551616", 1),
		strings.Replace(sampleToken, boot, boot[1:], 1),
		strings.Replace(sampleToken, boot, "g"+boot[1:], 1),
		strings.Replace(sampleToken, ".2.", ".-2.", 1),
		strings.Replace(sampleToken, ".2.", ".02.", 1),
		strings.Replace(sampleToken, "abc", "ABC", 1),
		strings.Replace(sampleToken, "0000000000000abc", "abc", 1),
		strings.Replace(sampleToken, "0000000000000abc", "_000000000000abc", 1),
	} {
		if m, ok := ParseMark(bad); ok {
			t.Errorf("%q was taken as %+v", bad, m)
		}
	}
}

func TestNewMark(t *testing.T) {
	a, err := NewMark(0)
	if err != nil {
		t.Skip(err) // not supported on this system
	}
	b, err := NewMark(0)
	if err != nil || a == b {
		t.Errorf("two marks of one attempt number: %v, %v, %v", a, b, err)
	}
	if a.Launcher.Pid != os.Getpid() || !a.Launcher.Alive() || !isBoot(a.Boot) {
		t.Errorf("%+v", a)
	}
	if got, ok := ParseMark(a.String()); !ok || got != a {
		t.Errorf("ParseMark(%v) = %v, %v", a, got, ok)
	}
}

// markOf is the first mark in an environment and the local rank that it was given to.
func markOf(environ []byte) (mark Mark, local int, ok bool) {
	for mark, local := range marks(environ) {
		return mark, local, true
	}
	return Mark{}, 0, false
}

func TestMarkOf(t *testing.T) {
	entry := Variable + "=" + sample().Value(7)
	tests := map[string]struct {
		environ string
		ok      bool
	}{
		"alone":                        {entry + "\x00", true},
		"among others":                 {"A=1\x00" + entry + "\x00B=2\x00", true},
		"after a damaged part":         {"\x00\x00\xff\xfe\x00" + entry + "\x00", true},
		"after one that is none":       {Variable + "=\x00" + entry + "\x00", true},
		"empty":                        {"", false},
		"cut off":                      {entry, false},
		"name is longer":               {"X" + entry + "\x00", false},
		"name in a value":              {"X=" + entry + "\x00", false},
		"name goes on":                 {strings.Replace(entry, "=", "X=", 1) + "\x00", false},
		"name in other letters":        {strings.ToLower(Variable) + entry[len(Variable):] + "\x00", false},
		"value goes on":                {entry + "x\x00", false},
		"value in quotes":              {Variable + "=\"" + sample().Value(7) + "\"\x00", false},
		"line feed instead of NUL":     {"A=1\n" + entry + "\x00", false},
		"no rank":                      {Variable + "=" + sampleToken + "\x00", false},
		"empty rank":                   {Variable + "=" + sampleToken + "/\x00", false},
		"rank with a sign":             {Variable + "=" + sampleToken + "/+7\x00", false},
		"rank with a leading zero":     {Variable + "=" + sampleToken + "/07\x00", false},
		"rank below zero":              {Variable + "=" + sampleToken + "/-7\x00", false},
		"rank with more behind it":     {Variable + "=" + sampleToken + "/7/8\x00", false},
		"rank beyond every number":     {Variable + "=" + sampleToken + "/99999999999999999999\x00", false},
		"another version of the token": {strings.Replace(entry, "ll1", "ll9", 1) + "\x00", false},
	}
	for name, tt := range tests {
		mark, local, ok := markOf([]byte(tt.environ))
		if ok != tt.ok || ok && (mark != sample() || local != 7) || !ok && (mark != Mark{} || local != 0) {
			t.Errorf("%s: MarkOf = %v, %d, %v", name, mark, local, ok)
		}
	}
}

// An environment may hold a name twice; what a process has of ours counts, wherever.
func TestMarksOfOneEnvironment(t *testing.T) {
	other := sample()
	other.Attempt = 3
	environ := Variable + "=" + other.Value(1) + "\x00" + Variable + "=junk\x00" + Variable + "=" + sample().Value(2) + "\x00"
	var got []string
	for mark, local := range marks([]byte(environ)) {
		got = append(got, mark.Value(local))
	}
	if want := []string{other.Value(1), sample().Value(2)}; !slices.Equal(got, want) {
		t.Errorf("marks = %v", got)
	}
	if mark, _, _ := markOf([]byte(environ)); mark != other {
		t.Errorf("MarkOf = %v, want the first", mark)
	}
}

// A Finder goes to the guard and comes back the same.
func TestFinderAsJSON(t *testing.T) {
	for _, f := range []Finder{
		{},
		{
			Root: proc.ID{Pid: 1, Start: 2}, Mark: sample(), Leaders: []proc.ID{{Pid: 3, Start: 4}, {}},
			Exclude: []proc.ID{{Pid: 5, Start: 6}}, Strangers: []proc.ID{{Pid: 7, Start: 1<<64 - 1}}, Session: 8, Pinned: 9, Adopting: true,
		},
	} {
		text, err := json.Marshal(f)
		if err != nil {
			t.Fatal(err)
		}
		var got Finder
		if err := json.Unmarshal(text, &got); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if diff := cmp.Diff(f, got); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
	}
	var m Mark
	if err := json.Unmarshal([]byte(`"ll1.x"`), &m); err == nil || !strings.Contains(err.Error(), "cannot read a mark") {
		t.Errorf("no mark was read: %v", err)
	}
}

func FuzzMarkOf(f *testing.F) {
	f.Add([]byte(Variable + "=" + sample().Value(0) + "\x00"))
	f.Add([]byte("A=1\x00" + Variable + "=x\x00X" + Variable + "=" + sample().Value(3)))
	f.Add([]byte{0, 0, 0xff})
	f.Fuzz(func(t *testing.T, environ []byte) {
		mark, local, ok := markOf(environ)
		if !ok {
			return
		}
		// What is found stands there, as an entry of its own.
		entry := Variable + "=" + mark.Value(local)
		if !slices.Contains(strings.Split(string(environ), "\x00"), entry) {
			t.Errorf("%q is no entry of %q", entry, environ)
		}
	})
}

func FuzzParseMark(f *testing.F) {
	f.Add(sampleToken)
	f.Add("ll1.1.0." + boot + ".0.ffffffffffffffff")
	f.Add("ll1.....")
	f.Fuzz(func(t *testing.T, token string) {
		if mark, ok := ParseMark(token); ok && mark.String() != token {
			t.Errorf("%q became %q", token, mark)
		}
	})
}
