package harness

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"
)

// markerVariable is inherited by every process of a launch, however it
// detaches itself, so that leftovers can be told from everybody else's.
const markerVariable = "TEST_MARKER"

// defaultLimit is for a launch that imports torch on a busy machine.
const defaultLimit = 3 * time.Minute

// Launch is one call of the launcher, or of a script around it.
type Launch struct {
	// Script, if set, is run by sh instead of the launcher, which it finds in
	// the variable LENSLAUNCH.
	Script string
	Args   []string      // the whole command line after the program's name
	Env    []string      // "K=V", besides what Do puts there
	Stdin  string        // what the launcher reads
	Limit  time.Duration // longest time it may take; 0 means three minutes
}

// Outcome is what a launch came to.
type Outcome struct {
	Code   int // exit code; 128 + signal number if the launcher was killed
	Stdout string
	Stderr string
	Took   time.Duration
}

// Do starts the launcher in an environment of nothing but PATH, HOME, LANG, a
// TMPDIR in dir, the marker and launch.Env, and waits for it. A launcher that
// is late, or whose context ends, is asked to stop; that is an error.
func (launch Launch) Do(ctx context.Context, dir, marker string) (Outcome, error) {
	limit := launch.Limit
	if limit == 0 {
		limit = defaultLimit
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()

	var stdout, stderr bytes.Buffer
	cmd := launch.command(ctx)
	cmd.Env = append(cleanEnvironment(dir), markerVariable+"="+marker)
	if launch.Script != "" {
		cmd.Env = append(cmd.Env, "LENSLAUNCH="+os.Getenv(binaryVariable))
	}
	cmd.Env = append(cmd.Env, launch.Env...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(launch.Stdin), &stdout, &stderr
	// A launcher that is late is asked to stop first: killed, it could not
	// stop its workers, and the next test would run beside them.
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 30 * time.Second

	began := time.Now()
	err := cmd.Run()
	outcome := Outcome{Stdout: stdout.String(), Stderr: stderr.String(), Took: time.Since(began)}
	if ctx.Err() != nil {
		return outcome, fmt.Errorf("lenslaunch %q is not done after %v: %w", launch.Args, outcome.Took, ctx.Err())
	}
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return outcome, fmt.Errorf("cannot run lenslaunch %q: %w", launch.Args, err)
	}
	outcome.Code = exitCode(cmd.ProcessState)
	return outcome, nil
}

func (launch Launch) command(ctx context.Context) *exec.Cmd {
	if launch.Script != "" {
		return exec.CommandContext(ctx, "sh", append([]string{launch.Script}, launch.Args...)...)
	}
	return exec.CommandContext(ctx, os.Getenv(binaryVariable), launch.Args...)
}

// Run is Do in a directory of its own; it fails the test if the launcher takes
// longer than the limit or leaves a process behind.
func Run(t testing.TB, launch Launch) Outcome {
	t.Helper()
	marker := NewMarker()
	outcome, err := launch.Do(t.Context(), t.TempDir(), marker)
	if err != nil {
		t.Fatalf("%v\n%s", err, outcome.Tail())
	}
	RequireNothingLeft(t, marker)
	return outcome
}

// RequireCode fails the test, with what the launcher printed, if it ended with
// another code.
func (o Outcome) RequireCode(t testing.TB, want int) {
	t.Helper()
	if o.Code != want {
		t.Fatalf("exit code %d, want %d:\n%s", o.Code, want, o.Tail())
	}
}

// Tail is what a reader needs of the output to understand a failure.
func (o Outcome) Tail() string {
	const most = 4000
	last := func(text string) string { return text[max(0, len(text)-most):] }
	return "stdout: " + last(o.Stdout) + "\nstderr: " + last(o.Stderr)
}

func exitCode(state *os.ProcessState) int {
	if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return 128 + int(status.Signal())
	}
	return state.ExitCode()
}

// cleanEnvironment has nothing of a scheduler, of an outer launcher or of the
// machine's telemetry in it: each of them changes what a launch does.
func cleanEnvironment(dir string) []string {
	return []string{
		"PATH=" + os.Getenv("PATH"),
		"HOME=" + dir,
		"TMPDIR=" + dir,
		"LANG=C.UTF-8",
		"PYTHONDONTWRITEBYTECODE=1",
	}
}

// NewMarker returns a value that no other launch has in its environment.
func NewMarker() string { return uuid.NewString() }

// RequireNothingLeft fails the test for every process that has the marker.
func RequireNothingLeft(t testing.TB, marker string) {
	t.Helper()
	left, err := processesWith(markerVariable + "=" + marker)
	if errors.Is(err, errors.ErrUnsupported) {
		return
	}
	if err != nil {
		t.Fatalf("cannot look for leftovers: %v", err)
	}
	for _, process := range left {
		t.Errorf("left behind: %s", process)
	}
}

// StateDir returns a directory for --state-dir that no other launch uses.
func StateDir(t testing.TB) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "state")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatalf("cannot make a state directory: %v", err)
	}
	return dir
}
