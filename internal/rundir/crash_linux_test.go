package rundir

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// A launcher dies by SIGKILL after each step of everything that it does here. What it
// leaves is a directory that readers understand and the next launcher continues; no name
// of an attempt is used again and no line of a rank is lost.
func TestCrashAfterEachStep(t *testing.T) {
	steps := map[string]int{ // and how often each happens before the helper answers
		"created": 2, "written": 2, "synced": 2, "renamed": 2, "done": 2, // run.json: opened, attempt begun
		"attempt": 1, "linked": 1, "latest": 1, "shifted": 6,
	}
	for step, times := range steps {
		for n := range times {
			t.Run(fmt.Sprintf("%s/%d", step, n+1), func(t *testing.T) {
				dir := filepath.Join(t.TempDir(), "run")
				for range 2 { // the first launcher of a directory, and one that continues it
					h := startHelper(t, helperJob{Dir: dir, Action: "die", Step: step, Times: n + 1, Umask: -1})
					if a, err := h.Answer(); err == nil {
						t.Fatalf("it did not die: %+v", a)
					}
					h.End()
				}
				before, _ := filepath.Glob(filepath.Join(dir, "attempt-*"))
				_, _ = Read(dir) // there may be none yet, but it must not fail otherwise
				afterCrash(t, dir, before)
			})
		}
	}
}

func afterCrash(t *testing.T, dir string, before []string) {
	t.Helper()
	d := mustOpen(t, testOptions(t, dir))
	a := mustBegin(t, d, BeginInfo{})
	for _, path := range before {
		if path == a.Path() {
			t.Errorf("%s is used again", path)
		}
		if text := strings.Join(outputs(t, path, "rank-0.out"), ""); text != lines(6)[:len(text)] || strings.Count(text, "\n") != len(text)/7 {
			t.Errorf("%s has the lines %q", path, text)
		}
	}
	mustClose(t, d)
	r := mustRead(t, dir)
	wantEqual(t, "latest attempt", r.Attempts[len(r.Attempts)-1].Name, a.Name())
	for i, rec := range r.Attempts[:len(r.Attempts)-1] {
		wantEqual(t, fmt.Sprintf("outcome of attempt %d", i), rec.Outcome, OutcomeUnknown)
	}
	for _, name := range entries(t, dir) {
		if strings.HasPrefix(name, ".") {
			t.Errorf("%s is left behind", name)
		}
	}
	wholeLines(t, filepath.Join(dir, eventsName))
}

// lines are those that a helper writes.
func lines(n int) string {
	text := ""
	for i := range n {
		text += fmt.Sprintf("line %d\n", i)
	}
	return text
}
