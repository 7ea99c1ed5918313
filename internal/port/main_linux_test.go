package port

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"testing"

	"go.uber.org/goleak"
)

// helperVariable makes the test binary a second process that reserves ports.
const helperVariable = "LENSLAUNCH_TEST_PORT_HELPER"

// helperJob is what a helper is to do, and helperAnswer what it did.
type helperJob struct {
	Range        Range
	Count, Times int
}

type helperAnswer struct {
	Ports [][]int
	Error string
}

func TestMain(m *testing.M) {
	if job := os.Getenv(helperVariable); job != "" {
		os.Exit(helperMain(job))
	}
	goleak.VerifyTestMain(m)
}

// helperMain reserves, answers with one line, and holds until stdin ends.
func helperMain(text string) int {
	var job helperJob
	var answer helperAnswer
	if err := json.Unmarshal([]byte(text), &job); err != nil {
		answer.Error = err.Error()
	}
	for range job.Times {
		res, err := Reserve(job.Range, job.Count)
		if err != nil {
			answer.Error = err.Error()
			break
		}
		answer.Ports = append(answer.Ports, res.Ports())
	}
	if err := json.NewEncoder(os.Stdout).Encode(answer); err != nil {
		return 1
	}
	_, _ = io.Copy(io.Discard, os.Stdin)
	return 0
}

// startHelper starts a process that holds its reservations until the test ends
// or release is called. The answer is to be read from the decoder.
func startHelper(t *testing.T, job helperJob) (answer *json.Decoder, pid int, release func()) {
	t.Helper()
	text, err := json.Marshal(job)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0])
	// A race-built process sleeps a second at its end unless told otherwise.
	cmd.Env = append(os.Environ(), helperVariable+"="+string(text), "GODEBUG=execwait=2", "GORACE=atexit_sleep_ms=0")
	cmd.Stderr = os.Stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	released := false
	release = func() {
		if released {
			return
		}
		released = true
		stdin.Close()
		if err := cmd.Wait(); err != nil {
			t.Errorf("helper: %v", err)
		}
	}
	t.Cleanup(release)
	return json.NewDecoder(stdout), cmd.Process.Pid, release
}

func (a helperAnswer) err() error {
	if a.Error != "" {
		return fmt.Errorf("helper: %s", a.Error)
	}
	return nil
}
