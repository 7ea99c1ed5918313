package detect

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// maxOutput is more than nvidia-smi writes for a thousand GPUs, in bytes.
const maxOutput = 1 << 20

var errTooMuch = errors.New("it writes too much")

// runLimited runs a program and returns what it wrote to stdout. It returns when
// the limit is over, whatever the program does: the whole process group is killed
// then, and what cannot even be killed (a process that hangs inside a driver) is
// left to a goroutine that waits for it, so that nothing else has to.
func runLimited(ctx context.Context, limit time.Duration, program string, args ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("no answer within %v", limit))
	defer cancel() // it has ended, or ctx has: nothing is cut short
	out := &boundedBuffer{}
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Stdout = out
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return killGroup(cmd.Process.Pid) }
	// A grandchild in a session of its own may hold the pipe; without this, Wait
	// and its goroutine would stay as long as that lives.
	cmd.WaitDelay = time.Second

	done := make(chan error, 1)
	go func() { done <- cmd.Run() }() // Start, too, can hang: on a dead network file system
	select {
	case <-ctx.Done():
		return nil, context.Cause(ctx) // out still belongs to the goroutine
	case err := <-done:
		if err == nil || errors.Is(err, exec.ErrWaitDelay) {
			return out.buf.Bytes(), nil // ended well, at most its pipe did not
		}
		if ctx.Err() != nil { // both have come, and the program's end is that of ctx
			return nil, context.Cause(ctx)
		}
		return nil, fmt.Errorf("%w%s", err, firstLine(out.buf.Bytes()))
	}
}

// killGroup ends the group that the leader has led since its first instruction.
// Package exec calls it while the leader runs, or in the instant after it has
// been waited for, when its number is free but not in use again.
func killGroup(leader int) error {
	err := syscall.Kill(-leader, syscall.SIGKILL)
	if errors.Is(err, syscall.ESRCH) {
		return os.ErrProcessDone
	}
	return err
}

// A boundedBuffer refuses what goes beyond maxOutput; the writer then gets
// SIGPIPE.
type boundedBuffer struct{ buf bytes.Buffer }

func (b *boundedBuffer) Write(p []byte) (int, error) {
	if b.buf.Len()+len(p) > maxOutput {
		return 0, errTooMuch
	}
	return b.buf.Write(p)
}
