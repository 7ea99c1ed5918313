//go:build linux

package examples

import (
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"lenslaunch/test/harness"
)

var (
	carrierLine = regexp.MustCompile(`(?m)^\[(\d)\] carrier: rank (\d)/8  attempt (\S+)  restart count (\d)$`)
	stepLine    = regexp.MustCompile(`(?m)^\[0\] step +(\d+)/24  loss ([0-9.]+)$`)
)

// The README's first command: 8 ranks train, one restart is shown and
// survived, every rank shows its own carrier, and nothing stays behind.
func TestDemo(t *testing.T) {
	requirePython(t)
	const demo = "../../examples/demo.sh"
	temporary := t.TempDir()
	outcome := harness.Run(t, harness.Launch{
		Script: demo, Args: []string{"--no-torch"}, Env: []string{"TMPDIR=" + temporary},
	})
	outcome.RequireCode(t, 0)

	seen := map[string]bool{} // "attempt/rank"
	for _, line := range carrierLine.FindAllStringSubmatch(outcome.Stdout, -1) {
		prefix, rank, id, attempt := line[1], line[2], line[3], line[4]
		if prefix != rank || id != attemptUUID("demo", attempt) {
			t.Errorf("wrong carrier: %s", line[0])
		}
		seen[attempt+"/"+rank] = true
	}
	if len(seen) != 2*8 {
		t.Errorf("%d different carriers, want 16: %v", len(seen), seen)
	}
	checkLosses(t, stepLine.FindAllStringSubmatch(outcome.Stdout, -1))
	for _, want := range []string{"resuming after step 12\n", "[0] done\n"} {
		if !strings.Contains(outcome.Stdout, want) {
			t.Errorf("stdout has no %q", want)
		}
	}
	if want := "rank 7 failed: failing at step 13"; !strings.Contains(outcome.Stderr, want) {
		t.Errorf("stderr has no %q:\n%s", want, outcome.Stderr)
	}
	if left, err := os.ReadDir(temporary); err != nil || len(left) != 0 {
		t.Errorf("left in the temp directory: %v, %v", left, err)
	}
}

// checkLosses wants every step once, in order over both attempts, and a loss
// that falls at each of them.
func checkLosses(t *testing.T, lines [][]string) {
	t.Helper()
	last := 1e9
	for i, line := range lines {
		loss, err := strconv.ParseFloat(line[2], 64)
		if err != nil || line[1] != strconv.Itoa(i+1) || loss >= last {
			t.Errorf("line %d is %q after a loss of %v", i+1, line[0], last)
		}
		last = loss
	}
	if len(lines) != 24 {
		t.Errorf("%d steps, want 24", len(lines))
	}
}
