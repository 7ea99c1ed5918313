package rundir

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
	"testing"

	"go.uber.org/goleak"
	"golang.org/x/sys/unix"

	"lenslaunch/test/second"
)

// helperVariable makes the test binary a second launcher.
const helperVariable = "LENSLAUNCH_TEST_RUNDIR_HELPER"

type helperJob struct {
	Dir    string
	Action string
	Step   string // for "die": the step to die after
	Times  int    // for "die": which of those steps, from 1
	Umask  int    // for "hold", -1: as it is
	Mode   string // "file": a file system without flock
}

// answer is a line that a helper prints.
type answer struct {
	Name  string
	Pid   int
	Error string
	Held  int // pid in a HeldError
}

func TestMain(m *testing.M) {
	if text := os.Getenv(helperVariable); text != "" {
		var job helperJob
		if err := json.Unmarshal([]byte(text), &job); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		job.run()
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

// run opens the directory, begins an attempt, writes a line, says so, and stays until
// stdin ends.
func (job helperJob) run() {
	out := json.NewEncoder(os.Stdout)
	sys := realSystem()
	if job.Mode == "file" {
		sys.flock = func(*os.File, int) error { return unix.ENOLCK }
	}
	if job.Umask >= 0 {
		unix.Umask(job.Umask)
	}
	if job.Action == "die" {
		seen := 0
		sys.step = func(step string) {
			if step == job.Step {
				seen++
			}
			if step == job.Step && seen == job.Times {
				_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
				select {}
			}
		}
	}
	d, err := open(Options{Dir: job.Dir, Run: RunInfo{RunID: "helper"}}, sys)
	if err != nil {
		a := answer{Error: err.Error()}
		var held *HeldError
		if errors.As(err, &held) {
			a.Held = held.Pid
		}
		_ = out.Encode(a)
		return
	}
	_ = out.Encode(job.work(d))
	_, _ = io.Copy(io.Discard, os.Stdin)
	if job.Action == "die" {
		_ = d.Close()
	}
}

func (job helperJob) work(d *Dir) answer {
	a, err := d.Begin(BeginInfo{Ranks: []RankInfo{{Rank: 0}}})
	if err != nil {
		return answer{Error: err.Error()}
	}
	w, err := a.Log(0, Out, 8, 3)
	if err != nil {
		return answer{Error: err.Error()}
	}
	for i := range 6 {
		if _, err := fmt.Fprintf(w, "line %d\n", i); err != nil {
			return answer{Error: err.Error()}
		}
	}
	_ = w.Close()
	return answer{Name: a.Name(), Pid: os.Getpid()}
}

// startHelper runs a second launcher.
func startHelper(t *testing.T, job helperJob) *second.Process[answer] {
	t.Helper()
	return second.Start[answer](t, helperVariable, job, nil)
}
