package launcher

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"lenslaunch/internal/logmux"
)

// input is a file with a text to read as standard input.
func inputFile(t *testing.T, text string) *os.File {
	t.Helper()
	path := filepath.Join(t.TempDir(), "stdin")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// One local rank reads the launcher's stdin; the others, or all, read /dev/null.
func TestWhoReadsStdin(t *testing.T) {
	tests := []struct {
		name  string
		stdin int
		want  []string
	}{
		{"nobody", -1, []string{"[0] stdin ", "[1] stdin "}},
		{"rank 0", 0, []string{"[0] stdin text", "[1] stdin "}},
		{"rank 1", 1, []string{"[0] stdin ", "[1] stdin text"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := newDraft(t, 2)
			l := newLaunched(t, d, "*: stdin")
			d.Output.Stdin = tt.stdin
			l.plan = d.plan(t)
			console := l.console()
			console.In = inputFile(t, "text")
			l.begin(console)
			if code := l.wait(); code != 0 {
				t.Errorf("exit code %d", code)
			}
			if got := slices.Sorted(slices.Values(l.out.all())); !slices.Equal(got, tt.want) {
				t.Errorf("output %q, want %q", got, tt.want)
			}
		})
	}
}

// A single rank without prefix gets the launcher's own descriptors: a terminal stays
// a terminal. There is then no tail of stderr to report.
func TestSingleRankGetsTheDescriptorsThemselves(t *testing.T) {
	d := newDraft(t, 1)
	l := newLaunched(t, d, "-")
	d.Command = []string{"/bin/sh", "-c", `readlink /proc/self/fd/1; echo oops >&2; exit 4`}
	d.Output.Mode, d.Output.Stdin = OutputPlain, 0
	l.plan = d.plan(t)
	dir := t.TempDir()
	file := func(name string) *os.File {
		f, err := os.Create(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { f.Close() })
		return f
	}
	console := l.console()
	console.OutFile, console.ErrFile = file("out"), file("err")
	l.begin(console)
	if code := l.wait(); code != 4 {
		t.Errorf("exit code %d", code)
	}
	for name, want := range map[string]string{"out": filepath.Join(dir, "out") + "\n", "err": "oops\n"} {
		if text, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(text) != want {
			t.Errorf("%s: %q, %v", name, text, err)
		}
	}
	if e := pick[AttemptEnded](l.events.all())[0].Evidence; !e.Unseen || e.Stderr != nil {
		t.Errorf("evidence %+v", e)
	}
	if len(l.out.all())+len(l.err.all()) != 0 {
		t.Errorf("the sinks got %q, %q", l.out.all(), l.err.all())
	}
}

// What reaches the console, by mode. What is not shown still feeds the report.
func TestOutputModes(t *testing.T) {
	tests := []struct {
		name  string
		mode  OutputMode
		shown func(local, rank int) bool
		out   []string
	}{
		{"prefix", OutputPrefix, func(int, int) bool { return true }, []string{"[ 0] hello", "[ 1] hello", "[10] hello", "[2"}},
		{"plain", OutputPlain, func(int, int) bool { return true }, []string{"hello", "hello"}},
		{"rank 0 alone", OutputRank0, func(_, rank int) bool { return rank == 0 }, []string{"hello"}},
		{"none", OutputNone, func(int, int) bool { return false }, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			n := 2
			if tt.mode == OutputPrefix {
				n = 11
			}
			d := newDraft(t, n)
			l := newLaunched(t, d, "-")
			d.Command = []string{"/bin/sh", "-c", `echo hello; echo oops >&2; [ $RANK != 1 ] || exit 3`}
			d.Output.Mode, d.Output.Shown = tt.mode, tt.shown
			l.plan = d.plan(t)
			l.begin(l.console())
			if code := l.wait(); code != 3 {
				t.Errorf("exit code %d", code)
			}
			if tt.mode == OutputPrefix {
				checkPrefixes(t, l.out.all())
			} else if got := l.out.all(); len(got) > len(tt.out) || slices.ContainsFunc(got, func(s string) bool { return s != "hello" }) {
				t.Errorf("output %q", got)
			}
			if got := pick[AttemptEnded](l.events.all())[0].Evidence.Stderr; !slices.Equal(got, []string{"oops"}) {
				t.Errorf("evidence %q", got)
			}
		})
	}
}

// checkPrefixes: numbers are aligned to the widest rank of the job.
func checkPrefixes(t *testing.T, lines []string) {
	t.Helper()
	for _, line := range lines {
		if !strings.HasSuffix(line, "] hello") || len(line) != len("[10] hello") {
			t.Errorf("line %q", line)
		}
	}
	if !slices.Contains(lines, "[ 1] hello") {
		t.Errorf("output %q", lines)
	}
}

// A console that has gone costs its lines, not the job.
func TestConsoleThatHasGone(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	r.Close()
	defer w.Close()
	d := newDraft(t, 2)
	l := newLaunched(t, d, "*: say one; say two; exit 0")
	l.plan = d.plan(t)
	var lost []error
	l.begin(Console{Out: logmux.NewSink(w, func(err error) { lost = append(lost, err) }), Err: logmux.NewSink(l.err, nil)})
	if code := l.wait(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	if len(lost) != 1 {
		t.Errorf("told of it: %v", lost)
	}
}
