package guard

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"lenslaunch/internal/proc"
	"lenslaunch/internal/tree"
)

// said is what a pipe holds after these messages.
func said(t *testing.T, list ...message) string {
	t.Helper()
	var b bytes.Buffer
	for _, m := range list {
		line, err := m.line()
		if err != nil {
			t.Fatal(err)
		}
		b.Write(line)
	}
	return b.String()
}

func attempt(pid int) *Attempt {
	return &Attempt{
		Finder: tree.Finder{Root: proc.ID{Pid: pid, Start: 7}, Exclude: []proc.ID{{Pid: 9, Start: 9}}},
		Cgroup: "/g", Remove: []string{"/d"}, Ledger: &Entry{Dir: "/l", File: "f.json", UUID: "u"},
	}
}

func TestRead(t *testing.T) {
	one, two := proc.ID{Pid: 11, Start: 1}, proc.ID{Pid: 12, Start: 2}
	tests := []struct {
		name string
		in   []message
		want Watch
		bye  bool
	}{
		{"launcher gone before an attempt", nil, Watch{}, false},
		{"in the middle of an attempt", []message{{Attempt: attempt(5)}, {Leader: &one}, {Leader: &two}},
			Watch{Attempt: attempt(5), Leaders: []proc.ID{one, two}}, false},
		{"between two attempts", []message{{Attempt: attempt(5)}, {Leader: &one}, {Over: true}}, Watch{}, false},
		{"in the second attempt", []message{{Attempt: attempt(5)}, {Leader: &one}, {Over: true}, {Attempt: attempt(6)}, {Leader: &two}},
			Watch{Attempt: attempt(6), Leaders: []proc.ID{two}}, false},
		{"a new attempt without a word about the old one", []message{{Attempt: attempt(5)}, {Leader: &one}, {Attempt: attempt(6)}},
			Watch{Attempt: attempt(6)}, false},
		{"a leader was reaped, and another", []message{{Attempt: attempt(5)}, {Leader: &one}, {Leader: &two}, {Reaped: 70}, {Reaped: 80}},
			Watch{Attempt: attempt(5), Leaders: []proc.ID{one, two}, Reaped: 70}, false},
		{"reaped in an earlier attempt", []message{{Attempt: attempt(5)}, {Leader: &one}, {Reaped: 70}, {Over: true}, {Attempt: attempt(6)}, {Leader: &two}},
			Watch{Attempt: attempt(6), Leaders: []proc.ID{two}}, false},
		{"a last command, over attempts", []message{{Last: &Command{Args: []string{"x"}, Env: []string{"K=v"}}}, {Attempt: attempt(5)}, {Over: true}},
			Watch{Last: &Command{Args: []string{"x"}, Env: []string{"K=v"}}}, false},
		{"farewell", []message{{Attempt: attempt(5)}, {Leader: &one}, {Bye: true}}, Watch{}, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w, bye, err := read(strings.NewReader(said(t, tt.in...)))
			if err != nil || bye != tt.bye {
				t.Fatalf("bye %v, err %v", bye, err)
			}
			if diff := cmp.Diff(tt.want, w); diff != "" {
				t.Errorf("watch (-want +got):\n%s", diff)
			}
		})
	}
}

// A launcher that is killed in the middle of a line has said what it said before.
func TestLineThatIsCut(t *testing.T) {
	whole := said(t, message{Attempt: attempt(5)})
	leader := said(t, message{Leader: &proc.ID{Pid: 11, Start: 1}})
	for cut := 1; cut < len(leader)-1; cut++ {
		w, bye, err := read(strings.NewReader(whole + leader[:cut]))
		if bye || w.Attempt == nil || !errors.Is(err, errGarbled) {
			t.Fatalf("cut at %d: %+v, bye %v, %v", cut, w, bye, err)
		}
	}
}

type failing struct{ r io.Reader }

func (f failing) Read(p []byte) (int, error) {
	if n, err := f.r.Read(p); err == nil {
		return n, nil
	}
	return 0, io.ErrUnexpectedEOF
}

func TestPipeThatBreaks(t *testing.T) {
	w, bye, err := read(failing{strings.NewReader(said(t, message{Attempt: attempt(5)}))})
	if bye || w.Attempt == nil || !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("%+v, bye %v, %v", w, bye, err)
	}
}

func FuzzRead(f *testing.F) {
	f.Add("{\"Leader\":{\"Pid\":1,\"Start\":2}}\n{\"Bye\":true}\n")
	f.Add("{\"Attempt\":{\"Finder\":{}}}\n")
	f.Fuzz(func(t *testing.T, text string) {
		w, bye, _ := read(strings.NewReader(text))
		if bye && w.Attempt != nil {
			t.Error("a farewell leaves something to guard")
		}
	})
}
