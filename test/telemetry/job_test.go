//go:build telemetry && linux

package telemetry

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"syscall"
	"testing"
	"time"

	"lenslaunch/test/harness"
)

// job is a launch whose last rank waits for the test's word and then does what the job
// is about.
type job struct {
	name   string
	flags  []string
	others string // what the other ranks do, in sh; they end at once if it is empty
	last   string // what the last rank does
	code   int    // what the launcher makes of it
}

var jobs = []job{
	{name: "success", last: "exit 0"},
	{name: "failure and restart", flags: []string{"--max-restarts", "1", "--restart-delay", "0s"}, last: "exit 3", code: 3},
	{name: "told to stop", last: `kill -TERM "$PPID"; exec sleep 600`, code: 143},
}

// How many ranks a job has.
const few, many = 2, 32

// script is what the ranks run. The word is a line in a pipe; a second attempt does not
// need it again.
func (j job) script() string {
	return `if [ "$RANK" != $((WORLD_SIZE - 1)) ]; then
	` + cmp.Or(j.others, "exit 0") + `
fi
[ -e "$GO" ] || read -r line <"$GATE"
` + j.last
}

// ending is what a job came to.
type ending struct {
	harness.Outcome
	took     time.Duration // from the word to the launcher's end
	warnings int           // lines of the launcher
	lost     int           // spans, as they say
}

var (
	warning = regexp.MustCompile(`(?m)^lenslaunch: warning: .*$`)
	number  = regexp.MustCompile(`telemetry .*\bspans=(\d+)\b`)
)

// run launches the job with so many ranks, and gives the word after between.
func (j job) run(t *testing.T, ranks int, env []string, between func()) ending {
	t.Helper()
	dir := t.TempDir()
	gate, goAhead := filepath.Join(dir, "gate"), filepath.Join(dir, "go")
	if err := syscall.Mkfifo(gate, 0o600); err != nil {
		t.Fatal(err)
	}
	args := slices.Concat([]string{"--nproc", strconv.Itoa(ranks), "--state-dir", harness.StateDir(t)}, j.flags)
	launch := harness.Launch{
		Args: append(args, "--", "sh", "-c", j.script()),
		Env:  slices.Concat([]string{"GATE=" + gate, "GO=" + goAhead, "OTEL_BSP_SCHEDULE_DELAY=100"}, env),
	}
	marker, end := harness.NewMarker(), ending{}
	var err error
	var over time.Time
	ended := inBackground(t, func(ctx context.Context) {
		end.Outcome, err = launch.Do(ctx, dir, marker)
		over = time.Now()
	})
	between()
	word := open(t, gate, goAhead)
	<-ended
	if err != nil {
		t.Fatalf("%v\n%s", err, end.Tail())
	}
	end.took = over.Sub(word)
	end.RequireCode(t, j.code)
	harness.RequireNothingLeft(t, marker)
	for _, line := range warning.FindAllString(end.Stderr, -1) {
		end.warnings++
		if match := number.FindStringSubmatch(line); match != nil {
			n, _ := strconv.Atoi(match[1])
			end.lost += n
		}
	}
	return end
}

// inBackground runs f, and keeps the test's directories until it is done.
func inBackground(t *testing.T, f func(ctx context.Context)) <-chan struct{} {
	done := make(chan struct{})
	go func() {
		defer close(done)
		f(t.Context())
	}()
	t.Cleanup(func() { <-done })
	return done
}

// open gives the word, and says when.
func open(t *testing.T, gate, goAhead string) time.Time {
	t.Helper()
	if err := os.WriteFile(goAhead, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	// Opened for both, it waits for no rank to read it, and holds the line until one does.
	pipe, err := os.OpenFile(gate, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { pipe.Close() })
	word := time.Now()
	if _, err := pipe.WriteString("go\n"); err != nil {
		t.Fatal(err)
	}
	return word
}
