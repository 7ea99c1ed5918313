// Package second runs the test binary a second time, as another process that does a job
// and says what came of it: a launcher beside the one under test. It imports nothing of
// the program, so that every package can use it.
package second

import (
	"bufio"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"testing"
)

// Process is one that runs. A is what it answers, one line of JSON each.
type Process[A any] struct {
	Cmd *exec.Cmd

	stdin io.Closer
	lines *bufio.Reader
	ended bool
}

// Start starts the binary with the job, as JSON, in a variable that its TestMain looks
// for. It may stay until its stdin ends. change may be nil.
func Start[A any](t *testing.T, variable string, job any, change func(*exec.Cmd)) *Process[A] {
	t.Helper()
	text, err := json.Marshal(job)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("/proc/self/exe")
	// A race-built process sleeps a second at its end unless told otherwise.
	cmd.Env = append(os.Environ(), variable+"="+string(text), "GODEBUG=execwait=2", "GORACE=atexit_sleep_ms=0")
	cmd.Stderr = os.Stderr
	if change != nil {
		change(cmd)
	}
	p := &Process[A]{Cmd: cmd}
	if p.stdin, err = cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	p.lines = bufio.NewReader(stdout)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.End)
	return p
}

// Answer reads one line; io.EOF if the process died before.
func (p *Process[A]) Answer() (A, error) {
	var a A
	line, err := p.lines.ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(line, &a)
	}
	return a, err
}

// MustAnswer is Answer where the process has to live.
func (p *Process[A]) MustAnswer(t *testing.T) A {
	t.Helper()
	a, err := p.Answer()
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// End lets the process go and reaps it.
func (p *Process[A]) End() {
	if !p.ended {
		p.ended = true
		p.stdin.Close()
		_ = p.Cmd.Wait()
	}
}

// Kill sends SIGKILL and reaps.
func (p *Process[A]) Kill() {
	_ = p.Cmd.Process.Kill()
	p.End()
}
