//go:build linux

package examples

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"lenslaunch/test/harness"
)

// goCaches keep the script from building everything anew.
func goCaches(t *testing.T) (env []string) {
	t.Helper()
	out, err := exec.Command("go", "env", "GOCACHE", "GOMODCACHE").Output()
	if err != nil {
		t.Fatal(err)
	}
	dirs := strings.Fields(string(out))
	return []string{"GOCACHE=" + dirs[0], "GOMODCACHE=" + dirs[1]}
}

// The README's first screen: one of 4 ranks is killed with -9, and the report says which
// span each of them had open, without any backend.
func TestTruncated(t *testing.T) {
	temporary := t.TempDir()
	kept := filepath.Join(t.TempDir(), "run")
	outcome := harness.Run(t, harness.Launch{
		Script: "../../examples/truncated/run.sh", Env: append(goCaches(t), "TMPDIR="+temporary, "KEEP="+kept),
	})
	outcome.RequireCode(t, 0)
	const took = `\(\d+(\.\d)?m?s\)`
	for _, want := range []string{
		`cause: rank 2 failed: SIGKILL`,
		`  it had open: train ` + took + ` > step 3 ` + took + ` > write checkpoint ` + took,
		`  ranks 0-1,3: train ` + took + ` > step 3 ` + took + ` > allreduce ` + took,
		`  rank 2: train ` + took + ` > step 3 ` + took + ` > write checkpoint ` + took,
		`--- exit code of the job: 137`,
	} {
		if !regexp.MustCompile(`(?m)^` + want).MatchString(outcome.Stdout) {
			t.Errorf("no line %s in:\n%s", want, outcome.Stdout)
		}
	}
	spans, err := os.ReadFile(filepath.Join(kept, "spans.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	// Of each of 4 ranks train, step 3 and what it was at; besides these the workers that
	// were stopped.
	if n := strings.Count(string(spans), `"key":"lenslaunch.span.recovered","value":{"boolValue":true}`); n != 12 {
		t.Errorf("%d recovered spans, want 12", n)
	}
	if journals, err := filepath.Glob(kept + "/journal*"); err != nil || len(journals) > 0 {
		t.Errorf("journals are left: %v, %v", journals, err)
	}
	if left, err := os.ReadDir(temporary); err != nil || len(left) != 0 {
		t.Errorf("left in the temp directory: %v, %v", left, err)
	}
}
