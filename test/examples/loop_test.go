//go:build linux

package examples

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"lenslaunch/test/harness"
)

const loop = "../../examples/restart-loop.sh"

func runLoop(t *testing.T, env []string, command ...string) harness.Outcome {
	t.Helper()
	env = append(env, "NPROC=1", "DELAY=0", "RUN_ID=loop", "STATE_DIR="+harness.StateDir(t))
	return harness.Run(t, harness.Launch{Script: loop, Args: command, Env: env})
}

// Three starts of the launcher are three attempts of one job.
func TestRestartLoopContinuesAttempts(t *testing.T) {
	const worker = `echo te$TORCHELASTIC_RESTART_COUNT $OTEL_RESOURCE_ATTRIBUTES; [ $TORCHELASTIC_RESTART_COUNT = 2 ]`
	outcome := runLoop(t, nil, "sh", "-c", worker)
	outcome.RequireCode(t, 0)

	lines := strings.Split(strings.TrimSpace(outcome.Stdout), "\n")
	if len(lines) != 3 {
		t.Fatalf("%d attempts, want 3:\n%s", len(lines), outcome.Tail())
	}
	for i, line := range lines {
		te, carrier, _ := strings.Cut(line, " ")
		number := fmt.Sprint(i)
		if te != "te"+number || !strings.Contains(carrier, "nv.dl.run.uuid="+attemptUUID("loop", number)) {
			t.Errorf("attempt %d says %q", i, line)
		}
	}
	for _, want := range []string{"continuing loop from the ledger: attempt 1", "attempt 2"} {
		if !strings.Contains(outcome.Stderr, want) {
			t.Errorf("stderr has no %q:\n%s", want, outcome.Stderr)
		}
	}
}

// The loop ends at once with a code that trying again cannot mend, and after
// TRIES starts with any other.
func TestRestartLoopEnds(t *testing.T) {
	for name, test := range map[string]struct {
		command []string
		code    int
		tries   int
	}{
		"success":      {[]string{"true"}, 0, 1},
		"failure":      {[]string{"sh", "-c", "exit 9"}, 9, 3},
		"not found":    {[]string{"/nonexistent"}, 127, 1},
		"a directory":  {[]string{"/"}, 126, 1},
		"usage":        {[]string{"sh", "-c", "exit 2"}, 2, 1},
		"asked to end": {[]string{"sh", "-c", "kill -TERM $PPID; sleep 60"}, 143, 1},
	} {
		t.Run(name, func(t *testing.T) {
			outcome := runLoop(t, []string{"TRIES=3"}, test.command...)
			got := []int{outcome.Code, strings.Count(outcome.Stderr, "of 3\n")}
			if diff := cmp.Diff([]int{test.code, test.tries}, got); diff != "" {
				t.Errorf("code and tries:\n%s\n%s", diff, outcome.Tail())
			}
		})
	}
}
