//go:build interop

package interop

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"lenslaunch/test/harness"
)

// pythonVariable names the interpreter that has torch, the SDK and Lens.
const pythonVariable = "LENSLAUNCH_TEST_PYTHON"

func TestMain(m *testing.M) {
	if os.Getenv(pythonVariable) == "" {
		os.Stderr.WriteString("interop: " + pythonVariable + " is not set: run `make test-interop`\n")
		os.Exit(2)
	}
	os.Exit(harness.Main(m))
}

// job is a launch of one of the scripts in workers/.
type job struct {
	ranks  int
	runID  string
	flags  []string // of the launcher, besides --nproc, --run-id, --state-dir
	script string   // relative to this directory
	args   []string // of the script
	env    []string
	limit  time.Duration // 0: the harness's default
}

// run launches the job and returns its outcome and the directory where its
// workers left their results.
func (j job) run(t *testing.T) (harness.Outcome, string) {
	t.Helper()
	results := t.TempDir()
	args := []string{
		"--nproc", strconv.Itoa(j.ranks), "--run-id", j.runID,
		"--state-dir", harness.StateDir(t), "--output", "plain",
	}
	args = append(slices.Concat(args, j.flags), "--", os.Getenv(pythonVariable), absolute(t, j.script))
	outcome := harness.Run(t, harness.Launch{
		Args: append(args, j.args...),
		Env:  append(j.env, "RESULT_DIR="+results), Limit: j.limit,
	})
	return outcome, results
}

func absolute(t *testing.T, path string) string {
	t.Helper()
	path, err := filepath.Abs(path)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// records reads the workers' results and fails the test unless there are so
// many; they come in the order of attempt and rank.
func records[T any](t *testing.T, dir string, want int) []T {
	t.Helper()
	found := harness.Records[T](t, dir)
	if len(found) != want {
		t.Fatalf("%d workers left a result, want %d", len(found), want)
	}
	return found
}
