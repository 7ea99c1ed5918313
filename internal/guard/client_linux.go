package guard

import (
	"fmt"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"

	"lenslaunch/internal/proc"
)

// Word is the first argument that makes the binary a guard. It is no word that a
// person would give a program.
const Word = "_guard"

// pipeFD is the guard's end of the pipe: the first descriptor behind stdio.
const pipeFD = 3

// patience bounds a write: a pipe that is full belongs to a guard that does not
// read, which is as good as none.
const patience = 100 * time.Millisecond

// Client is the launcher's side of one guard.
type Client struct {
	Child *proc.Child

	mu   sync.Mutex // the loop and the goroutine that starts ranks both tell
	pipe *os.File
}

// Start starts a guard and does not wait for it to be ready: what is told meanwhile
// waits in the pipe.
func Start(s *proc.Spawner) (*Client, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("cannot start the guard: %w", err)
	}
	defer r.Close()
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		w.Close()
		return nil, fmt.Errorf("cannot start the guard: %w", err)
	}
	defer null.Close()
	child, err := s.StartDetached(&exec.Cmd{
		// The running binary, even if its file was replaced since.
		Path: "/proc/self/exe", Args: []string{"lenslaunch", Word},
		// No environment: it needs none, and a secret in it would be one more copy.
		Env:   []string{"GOMAXPROCS=2", "GOTRACEBACK=none"},
		Dir:   "/",
		Stdin: null, Stdout: null, Stderr: null, ExtraFiles: []*os.File{r},
		// A session of its own: no signal of a terminal or a group reaches it.
		SysProcAttr: &syscall.SysProcAttr{Setsid: true},
	})
	if err != nil {
		w.Close()
		return nil, fmt.Errorf("cannot start the guard: %w", err)
	}
	return &Client{Child: child, pipe: w}, nil
}

// Attempt tells of a new attempt, before its first process.
func (c *Client) Attempt(a Attempt) error { return c.say(message{Attempt: &a}) }

// Last tells what to run in the end, should the launcher be killed: after the processes
// of its attempt have been ended, if there is one.
func (c *Client) Last(last Command) error { return c.say(message{Last: &last}) }

// Leader tells of a rank that was started.
func (c *Client) Leader(id proc.ID) error { return c.say(message{Leader: &id}) }

// Reaped tells, before the first leader of the attempt is reaped, at which time that is
// (proc.Now): from then on its number may be given away.
func (c *Client) Reaped(at uint64) error { return c.say(message{Reaped: at}) }

// Over tells that nothing is left of the attempt.
func (c *Client) Over() error { return c.say(message{Over: true}) }

// Bye ends the guard; its process is still to be waited for.
func (c *Client) Bye() {
	// A guard that does not hear it sees the pipe end, and finds nothing to do.
	_ = c.say(message{Bye: true})
	c.mu.Lock()
	defer c.mu.Unlock()
	c.pipe.Close()
}

func (c *Client) say(m message) error {
	line, err := m.line()
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.pipe.SetWriteDeadline(time.Now().Add(patience)); err != nil {
		return fmt.Errorf("cannot tell the guard: %w", err)
	}
	if _, err := c.pipe.Write(line); err != nil {
		return fmt.Errorf("cannot tell the guard: %w", err)
	}
	return nil
}
