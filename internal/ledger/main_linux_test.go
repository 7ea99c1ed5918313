package ledger

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"testing"

	"go.uber.org/goleak"
	"golang.org/x/sys/unix"

	"lenslaunch/test/second"
)

// helperVariable makes the test binary a second launcher.
const helperVariable = "LENSLAUNCH_TEST_LEDGER_HELPER"

type helperJob struct {
	Dir    string
	Action string
	Step   string // for "die": the step of the write to die after
	Times  int    // for "begin": how many attempts
	Limit  uint64 // for "begin": the largest file it may write, 0 for any
}

// answer is a line that a helper prints.
type answer struct {
	Attempt *Attempt
	Error   string
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

func (job helperJob) run() {
	out := json.NewEncoder(os.Stdout)
	l, err := Open(job.Dir, testFile)
	if err != nil {
		_ = out.Encode(answer{Error: err.Error()})
		return
	}
	switch job.Action {
	case "begin": // then stay until stdin ends
		if job.Limit > 0 {
			signal.Ignore(syscall.SIGXFSZ)
			_ = unix.Setrlimit(unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: job.Limit, Max: job.Limit})
		}
		for range job.Times {
			_ = out.Encode(beginAnswer(l))
		}
	case "die": // at one step of the write
		l.step = func(step string) {
			if step == job.Step {
				_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
				select {}
			}
		}
		_ = out.Encode(beginAnswer(l))
		return
	case "lock": // hold the lock until stdin ends
		_ = l.locked(context.Background(), func(*os.File) error {
			_ = out.Encode(answer{})
			_, err := io.Copy(io.Discard, os.Stdin)
			return err
		})
		return
	}
	_, _ = io.Copy(io.Discard, os.Stdin)
}

func beginAnswer(l *Ledger) answer {
	a, err := l.Begin(context.Background(), nextTest)
	if err != nil {
		return answer{Error: err.Error()}
	}
	return answer{Attempt: &a}
}

// startHelper runs a second launcher.
func startHelper(t *testing.T, job helperJob, change func(*exec.Cmd)) *second.Process[answer] {
	t.Helper()
	return second.Start[answer](t, helperVariable, job, change)
}
