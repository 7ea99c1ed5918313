//go:build interop

package interop

import (
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

const trainScript = "../../examples/train/train.py"

var lossLine = regexp.MustCompile(`(?m)^step +(\d+)/\d+ +loss [0-9.]+$`)

// The example trains with real torch through a failure and a restart: every
// step is run, the second attempt begins where the first one saved, and the
// losses are those of a run that nothing happened to.
func TestTrainThroughRestart(t *testing.T) {
	const ranks = 4
	undisturbed, _ := job{
		ranks: ranks, runID: "train-plain", script: trainScript,
		args: []string{"--steps", "12", "--no-torch"},
	}.run(t)
	undisturbed.RequireCode(t, 0)

	checkpoints := t.TempDir()
	outcome, _ := job{
		ranks: ranks, runID: "train-torch", script: trainScript,
		flags: []string{"--max-restarts", "1", "--restart-delay", "0s"},
		args: []string{
			"--steps", "12", "--fail-at-step", "8", "--fail-rank", "2",
			"--checkpoint-dir", checkpoints, "--checkpoint-every", "5",
		},
		limit: 5 * time.Minute,
	}.run(t)
	outcome.RequireCode(t, 0)

	if diff := cmp.Diff(losses(undisturbed.Stdout), losses(outcome.Stdout)); diff != "" {
		t.Errorf("the restart changed the training:\n%s", diff)
	}
	for _, want := range []string{"(PyTorch, gloo)", "resuming after step 7\n", "done\n"} {
		if !strings.Contains(outcome.Stdout, want) {
			t.Errorf("stdout has no %q:\n%s", want, outcome.Stdout)
		}
	}
	if want := "failing at step 8, as --fail-at-step asks"; !strings.Contains(outcome.Stderr, want) {
		t.Errorf("stderr does not name the cause %q:\n%s", want, outcome.Stderr)
	}
	if files, err := os.ReadDir(checkpoints); err != nil || len(files) != 1 {
		t.Errorf("checkpoints: %v, %v; want one file", files, err)
	}
}

// losses returns the step lines in the order in which they were printed.
func losses(stdout string) []string { return lossLine.FindAllString(stdout, -1) }
