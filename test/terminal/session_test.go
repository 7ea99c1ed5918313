//go:build terminal && linux

package terminal

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"lenslaunch/test/harness"
)

// prompt of the shell, unlike anything that a program prints.
const prompt = "you$ "

// Keys that the terminal turns into signals.
const (
	ctrlC         = "\x03"
	ctrlZ         = "\x1a"
	ctrlBackslash = "\x1c"
)

// limit bounds one session; the machine may be busy.
const limit = 2 * time.Minute

// A session is a person in front of a terminal with an interactive shell.
type session struct {
	*testing.T
	*screen
	ctx    context.Context
	pty    *harness.PTY
	shell  *exec.Cmd
	ended  chan struct{} // closed when the shell has
	dir    string        // for files of the session, $TMPDIR
	marker string
	typed  int // commands
}

// sit starts a shell. At the end of the test it is hung up, and nothing of it may be
// left.
func sit(t *testing.T) *session {
	return sitBefore(t, "bash", "--norc", "--noprofile", "-i")
}

// sitBefore starts a program as the leader of a terminal's session.
func sitBefore(t *testing.T, program ...string) *session {
	t.Helper()
	pty := harness.OpenPTY(t)
	s := newSession(t, program, func(cmd *exec.Cmd) {
		cmd.Stdin, cmd.Stdout, cmd.Stderr = pty.Slave, pty.Slave, pty.Slave
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true, Ctty: 0}
	})
	s.pty, s.screen = pty, newScreen(pty.Master)
	return s
}

// without starts a program as a scheduler does, with no terminal anywhere.
func without(t *testing.T, program ...string) *session {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	s := newSession(t, program, func(cmd *exec.Cmd) {
		cmd.Stdout, cmd.Stderr = w, w
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	})
	w.Close()
	t.Cleanup(func() { r.Close() })
	s.screen = newScreen(r)
	return s
}

func newSession(t *testing.T, program []string, prepare func(*exec.Cmd)) *session {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	s := &session{T: t, ctx: ctx, ended: make(chan struct{}), dir: t.TempDir(), marker: harness.NewMarker()}
	s.shell = exec.Command(program[0], program[1:]...)
	s.shell.Dir = "testdata"
	s.shell.Env = s.environ()
	prepare(s.shell)
	if err := s.shell.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(s.ended)
		_ = s.shell.Wait() // tests look at its ProcessState
	}()
	t.Cleanup(func() {
		s.leave()
		cancel()
		if t.Failed() {
			t.Logf("the screen:\n%s", s.screen)
		}
		harness.RequireNothingLeft(t, s.marker)
	})
	return s
}

// environ has the launcher and the interpreter first in PATH.
func (s *session) environ() []string {
	bin := s.TempDir()
	for name, target := range map[string]string{"lenslaunch": harness.Binary(), "python3": python(s.T)} {
		if err := os.Symlink(target, filepath.Join(bin, name)); err != nil {
			s.Fatal(err)
		}
	}
	return append(harness.Environment(s.dir, s.marker),
		"PATH="+bin+":"+os.Getenv("PATH"), "PS1="+prompt, "TERM=dumb", "INPUTRC=/dev/null", "HISTFILE=")
}

// leave hangs up, or sends SIGTERM where there is no terminal, and waits until
// everybody has gone: the launcher of a shell is no child of the test's.
func (s *session) leave() {
	there := s.processes()
	if s.pty != nil {
		s.pty.Close()
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	for _, p := range there {
		if p.name == "lenslaunch" && (s.Failed() || s.pty == nil) {
			_ = syscall.Kill(p.pid, syscall.SIGTERM)
			_ = syscall.Kill(p.pid, syscall.SIGCONT)
		}
		// What belongs to a rank must have gone with the launcher.
		if p.rank == "" {
			s.awaitEnd(ctx, p.pid)
		}
	}
	select {
	case <-s.ended:
	case <-ctx.Done():
		s.Errorf("%s does not end", s.shell.Path)
		_ = s.shell.Process.Kill()
		<-s.ended
	}
}

// exits waits for the end of the program that was started and checks its exit code.
func (s *session) exits(code int) {
	s.Helper()
	select {
	case <-s.ended:
	case <-s.ctx.Done():
		s.Fatalf("%s does not end", s.shell.Path)
	}
	if got := s.shell.ProcessState.ExitCode(); got != code {
		s.Errorf("exit code %d, want %d", got, code)
	}
}

// shows waits for texts on the screen, one after the other.
func (s *session) shows(texts ...string) {
	s.Helper()
	for _, text := range texts {
		if !s.wait(s.ctx, text) {
			s.Fatalf("the screen does not show %q", text)
		}
	}
}

// showsAll waits for texts in any order, as several ranks print them. Each is searched
// after what was seen before.
func (s *session) showsAll(texts ...string) {
	s.Helper()
	from, last := s.place(), 0
	for _, text := range texts {
		s.seen = from
		s.shows(text)
		last = max(last, s.place())
	}
	s.seen = last
}

// each is a text for each rank of four, with its prefix.
func each(text string) []string {
	return []string{"[0] " + text, "[1] " + text, "[2] " + text, "[3] " + text}
}

// press types keys as they are.
func (s *session) press(keys string) {
	s.Helper()
	if _, err := s.pty.Master.WriteString(keys); err != nil {
		s.Fatalf("cannot type: %v", err)
	}
}

// enter types a line.
func (s *session) enter(line string) {
	s.Helper()
	s.press(line + "\r")
}

// run types a command once the shell has asked for it. What runs in the background may
// have printed since.
func (s *session) run(command string) {
	s.Helper()
	s.asks()
	s.typed++
	s.enter(command)
	s.shows(command + "\n") // as the terminal echoes it
}

// asks waits until the shell has asked for one more command than were typed.
func (s *session) asks() {
	s.Helper()
	for strings.Count(s.String(), prompt) <= s.typed {
		if !s.changes(s.ctx) {
			s.Fatalf("the shell asks for no command")
		}
	}
}

// foreground brings the job back, and waits until keys reach it and not the shell.
func (s *session) foreground(command string) {
	s.Helper()
	s.run("fg")
	s.shows(command + "\n")
	s.until("the job has the foreground", func() bool { return s.keysGoTo() != s.shell.Process.Pid })
}

// keysGoTo is the process group in the foreground of the terminal.
func (s *session) keysGoTo() (group int) {
	s.Helper()
	raw, err := s.pty.Master.SyscallConn()
	if err != nil {
		s.Fatal(err)
	}
	failed := raw.Control(func(fd uintptr) { group, err = unix.IoctlGetInt(int(fd), unix.TIOCGPGRP) })
	if failed != nil || err != nil {
		s.Fatalf("cannot ask for the foreground group: %v, %v", failed, err)
	}
	return group
}

// code checks the exit code of the last command.
func (s *session) code(want string) {
	s.Helper()
	s.run("echo code $?")
	s.shows("code " + want + "\n")
}

// silent checks that a text was not shown since a place.
func (s *session) silent(since int, text string) {
	s.Helper()
	if strings.Contains(s.since(since), text) {
		s.Errorf("the screen shows %q", text)
	}
}

// gate makes a place where a program waits (gate.py), and returns what opens it.
func (s *session) gate() func() {
	s.Helper()
	path := filepath.Join(s.dir, "gate")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		s.Fatal(err)
	}
	return func() {
		s.Helper()
		if err := os.WriteFile(path, nil, 0); err != nil {
			s.Fatal(err)
		}
	}
}
