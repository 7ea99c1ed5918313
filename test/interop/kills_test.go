//go:build interop

package interop

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"lenslaunch/test/collector"
	"lenslaunch/test/harness"
)

// lensed is a job of 4 ranks of workers/killed.py whose spans go to a collector.
type lensed struct {
	dir  string // facts
	pids [4]int
	done chan struct{}
	harness.Outcome
	err error
}

// lens starts the job and returns when every rank has made its spans.
func lens(t *testing.T, c *collector.Collector, spans int, ends string, env ...string) *lensed {
	t.Helper()
	job := &lensed{dir: t.TempDir(), done: make(chan struct{})}
	path := filepath.Join(job.dir, "ready")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	pipe, err := os.OpenFile(path, os.O_RDWR, 0) // nobody waits for a reader
	if err != nil {
		t.Fatal(err)
	}
	defer pipe.Close()
	launch := harness.Launch{
		Script: script(t),
		// Each rank has the time to end in its own way.
		Args: []string{
			"--nproc", "4", "--run-id", "killed", "--state-dir", harness.StateDir(t), "--failure-grace", "20s", "--journal-slots", strconv.Itoa(slotsOf),
			"--", os.Getenv(pythonVariable), absolute(t, "workers/killed.py"), strconv.Itoa(spans), ends,
		},
		Env: append(append(c.Environment(collector.GRPC), "RESULT_DIR="+job.dir, "READY="+path, "NEMO_LENS_ENABLED=1", "NEMO_LENS_EXPORTER=otlp",
			"NEMO_LENS_EXPORT_STRATEGY=all_ranks"), env...),
	}
	dir, marker := t.TempDir(), harness.NewMarker()
	go func() {
		defer close(job.done)
		job.Outcome, job.err = launch.Do(context.Background(), dir, marker)
	}()
	t.Cleanup(func() { <-job.done })
	lines := make(chan string, 4)
	go func() {
		read := bufio.NewReader(pipe)
		for range 4 {
			line, err := read.ReadString('\n')
			if err != nil {
				return // the job has ended, and the test with it
			}
			lines <- line
		}
	}()
	for range 4 {
		select {
		case line := <-lines:
			var rank, pid int
			if _, err := fmt.Sscan(line, &rank, &pid); err != nil {
				t.Fatal(err)
			}
			job.pids[rank] = pid
		case <-job.done:
			t.Fatalf("the job has ended: %v\n%s", job.err, job.Tail())
		}
	}
	return job
}

// script starts the launcher, in a memory group if there is one.
func script(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "launch.sh")
	const text = `[ -z "${MEMORY_GROUP:-}" ] || echo $$ >"$MEMORY_GROUP/cgroup.procs"
exec "$LENSLAUNCH" "$@"
`
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func (job *lensed) wait(t *testing.T) {
	t.Helper()
	<-job.done
	if job.err != nil || strings.Contains(job.Stderr, "warning: ") {
		t.Fatalf("%v\n%s", job.err, job.Tail())
	}
}

// A hundred ranks, with NeMo Lens's own set-up and its real batch exporter, are killed at
// random moments after more than a hundred times as many spans as their journals have
// slots. The Collector's file is the judge: each span that was open is there once, as it
// was; spans that had ended come twice in at most one of a hundred kills.
func TestKilledAtRandomMoments(t *testing.T) {
	const rounds = 25
	c := collector.Start(t, collector.Options{})
	var jobs []*lensed
	for range rounds {
		job := lens(t, c, spansOf, "killed")
		for _, rank := range rand.Perm(4) {
			<-time.After(rand.N(500 * time.Millisecond))
			if err := syscall.Kill(job.pids[rank], syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
		}
		job.wait(t)
		jobs = append(jobs, job)
	}
	came := arrivals(c.Traces(t))
	var all judged
	twiceIn := 0
	for _, job := range jobs {
		for rank := range 4 {
			known := facts(t, job.dir, rank)
			j := judge(t, known, came, rank, fmt.Sprintf("rank %d killed by SIGKILL", rank))
			if j.open == 0 || len(known) < spansOf {
				t.Errorf("rank %d had %d spans, %d of them open", rank, len(known), j.open)
			}
			if j.twice > 0 {
				twiceIn++
			}
			all.open, all.ended, all.twice, all.lost = all.open+j.open, all.ended+j.ended, all.twice+j.twice, all.lost+j.lost
		}
	}
	t.Logf("%d kills: %d open spans, each there once; of %d that had ended %d are there twice, in %d kills, and %d are not there",
		4*rounds, all.open, all.ended, all.twice, twiceIn, all.lost)
	if twiceIn > 4*rounds/100 {
		t.Errorf("spans that had ended are there twice in %d of %d kills", twiceIn, 4*rounds)
	}
}

// Four ranks end in four ways: kill -9, an invalid access, the kernel for want of memory,
// and SIGTERM, of which the last lets Lens say what is to be said.
func TestFourEnds(t *testing.T) {
	group, missing := harness.MemoryGroup(t, 2<<30)
	if missing != "" {
		t.Skip(missing)
	}
	c := collector.Start(t, collector.Options{})
	job := lens(t, c, 100, "kill,segv,oom,term", "MEMORY_GROUP="+group)
	for rank, signal := range map[int]syscall.Signal{0: syscall.SIGKILL, 3: syscall.SIGTERM} {
		if err := syscall.Kill(job.pids[rank], signal); err != nil {
			t.Fatal(err)
		}
	}
	job.wait(t)
	came := arrivals(c.Traces(t))
	for rank, reason := range []string{"rank 0 killed by SIGKILL", "rank 1 killed by SIGSEGV", "rank 2 killed by SIGKILL (out of memory)"} {
		if j := judge(t, facts(t, job.dir, rank), came, rank, reason); j.open != 2 {
			t.Errorf("rank %d had %d spans open", rank, j.open)
		}
	}
	known := facts(t, job.dir, 3)
	if j := judge(t, known, came, 3, ""); j.open != 0 || j.ended != len(known) || j.twice+j.lost > 0 {
		t.Errorf("the rank that was asked to end: %+v of %d", j, len(known))
	}
}
