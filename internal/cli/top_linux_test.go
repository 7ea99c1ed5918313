package cli

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
	"golang.org/x/sys/unix"

	"lenslaunch/internal/runview"
	"lenslaunch/internal/screen"
	"lenslaunch/launcher"
	"lenslaunch/test/harness"
)

// What a terminal is told when it is taken over and given back.
const (
	secondScreen = "\x1b[?1049h"
	firstScreen  = "\x1b[?1049l"
)

// modesOf are the modes of a terminal.
func modesOf(t *testing.T, f *os.File) unix.Termios {
	t.Helper()
	raw, err := f.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	var modes *unix.Termios
	if failed := raw.Control(func(fd uintptr) { modes, err = unix.IoctlGetTermios(int(fd), unix.TCGETS) }); failed != nil || err != nil {
		t.Fatal(failed, err)
	}
	return *modes
}

// readUntil reads what was drawn, up to a text.
func readUntil(t *testing.T, f *os.File, end string) string {
	t.Helper()
	var text strings.Builder
	buf := make([]byte, 1)
	for !strings.HasSuffix(text.String(), end) {
		if _, err := f.Read(buf); err != nil {
			t.Fatalf("%v after %q, without %q", err, text.String(), end)
		}
		text.Write(buf)
	}
	return text.String()
}

// oneRank is a look at a run that goes on.
func oneRank() (runview.Snapshot, error) {
	return runview.Snapshot{Head: "run-7: running", Live: true, Rows: []runview.RankRow{{Rank: 0, State: "running", Fate: runview.Running}}}, nil
}

// watching is a live table on a terminal.
type watching struct {
	pty    *harness.PTY
	before unix.Termios // the terminal's modes
	ended  chan struct{}
	code   int
	err    error
	panic  any
}

func watchTable(t *testing.T, sample func() (runview.Snapshot, error)) *watching {
	t.Helper()
	w := &watching{pty: harness.OpenPTY(t), ended: make(chan struct{})}
	w.before = modesOf(t, w.pty.Slave)
	c := &call{std: Streams{In: null(t), Out: w.pty.Slave, Err: w.pty.Slave}}
	go func() {
		defer close(w.ended)
		defer func() { w.panic = recover() }()
		w.code, w.err = c.watchTable(sample, 10*time.Millisecond)
	}()
	return w
}

// However a live table ends, the terminal is as it was and the last line says how the
// run is.
func TestTopGivesTheTerminalBack(t *testing.T) {
	tests := []struct {
		name string
		do   func(*watching) error
		code int
	}{
		{"q", func(w *watching) error { _, err := w.pty.Master.WriteString("xq"); return err }, 0},
		{"SIGTERM", func(*watching) error { return syscall.Kill(os.Getpid(), syscall.SIGTERM) }, 143},
		{"SIGINT", func(*watching) error { return syscall.Kill(os.Getpid(), syscall.SIGINT) }, 130},
		{"SIGQUIT", func(*watching) error { return syscall.Kill(os.Getpid(), syscall.SIGQUIT) }, 131},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
			w := watchTable(t, oneRank)
			readUntil(t, w.pty.Master, "q: leave")
			if err := tt.do(w); err != nil {
				t.Fatal(err)
			}
			readUntil(t, w.pty.Master, firstScreen)
			<-w.ended
			if w.code != tt.code || w.err != nil || w.panic != nil {
				t.Errorf("code %d, error %v, panic %v", w.code, w.err, w.panic)
			}
			if got := readUntil(t, w.pty.Master, "\n"); got != "run-7: running\r\n" {
				t.Errorf("last words %q", got)
			}
			if diff := cmp.Diff(w.before, modesOf(t, w.pty.Slave)); diff != "" {
				t.Errorf("modes (-before +after):\n%s", diff)
			}
		})
	}
}

// Also in a panic, which is a bug that has to be read.
func TestTopGivesTheTerminalBackInAPanic(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	looks := 0
	w := watchTable(t, func() (runview.Snapshot, error) {
		if looks++; looks > 2 {
			panic("a bug")
		}
		return oneRank()
	})
	readUntil(t, w.pty.Master, firstScreen)
	<-w.ended
	if w.panic != "a bug" {
		t.Errorf("panic %v", w.panic)
	}
	if diff := cmp.Diff(w.before, modesOf(t, w.pty.Slave)); diff != "" {
		t.Errorf("modes (-before +after):\n%s", diff)
	}
}

// A terminal that goes away, as with the ssh that it came by, ends it.
func TestTopEndsWithItsTerminal(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	w := watchTable(t, oneRank)
	readUntil(t, w.pty.Master, "q: leave")
	w.pty.Master.Close()
	<-w.ended
	if w.panic != nil || w.code != 129 && w.err == nil {
		t.Errorf("code %d, error %v, panic %v", w.code, w.err, w.panic)
	}
}

// A directory that cannot be read is said on the terminal as it is.
func TestTopOfNothing(t *testing.T) {
	broken := errors.New("input/output error")
	w := watchTable(t, func() (runview.Snapshot, error) { return runview.Snapshot{}, broken })
	<-w.ended
	if !errors.Is(w.err, broken) || w.code != 1 {
		t.Errorf("code %d, error %v", w.code, w.err)
	}
	w.pty.Slave.WriteString("nothing else\n")
	if got := readUntil(t, w.pty.Master, "\n"); got != "nothing else\r\n" {
		t.Errorf("%q", got)
	}
}

// Ctrl-Z gives the terminal to the shell, and fg takes it back: real keys, a real
// session, a process of its own.
func TestTopAndJobControl(t *testing.T) {
	dir := runDirectory(t)
	pty := harness.OpenPTY(t)
	before := modesOf(t, pty.Slave)
	cmd := exec.Command("/proc/self/exe")
	cmd.Args = []string{"lenslaunch", "top", dir}
	cmd.Env = append(os.Environ(), raceEnvironment()...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = pty.Slave, pty.Slave, pty.Slave
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true, Ctty: 0, Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	readUntil(t, pty.Master, "q: leave")
	if _, err := pty.Master.WriteString("\x1a"); err != nil {
		t.Fatal(err)
	}
	readUntil(t, pty.Master, firstScreen)
	var status syscall.WaitStatus
	if _, err := syscall.Wait4(cmd.Process.Pid, &status, syscall.WUNTRACED, nil); err != nil || !status.Stopped() {
		t.Fatalf("it did not stop: %v, status %x", err, status)
	}
	if diff := cmp.Diff(before, modesOf(t, pty.Slave)); diff != "" {
		t.Errorf("modes (-before +stopped):\n%s", diff)
	}
	if err := cmd.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	readUntil(t, pty.Master, secondScreen)
	readUntil(t, pty.Master, "q: leave")
	if _, err := pty.Master.WriteString("q"); err != nil {
		t.Fatal(err)
	}
	readUntil(t, pty.Master, firstScreen)
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff(before, modesOf(t, pty.Slave)); diff != "" {
		t.Errorf("modes (-before +after):\n%s", diff)
	}
}

func TestMoveOf(t *testing.T) {
	tests := map[screen.Key]runview.Move{
		'q': runview.Leave, 'Q': runview.Leave, 'k': runview.Up, screen.KeyUp: runview.Up, 'j': runview.Down, screen.KeyDown: runview.Down,
		' ': runview.PageDown, screen.KeyPageDown: runview.PageDown, 'b': runview.PageUp, screen.KeyPageUp: runview.PageUp,
		'g': runview.Top, screen.KeyHome: runview.Top, 'G': runview.Bottom, screen.KeyEnd: runview.Bottom, 'x': runview.Redraw,
	}
	for key, want := range tests {
		if got := moveOf(key); got != want {
			t.Errorf("key %d: %d, want %d", key, got, want)
		}
	}
}

// Signals steer as keys do; news of children say nothing.
func TestSteer(t *testing.T) {
	defer goleak.VerifyNone(t)
	signals, keys := make(chan launcher.Signal), make(chan screen.Key)
	v := &view{continued: make(chan struct{}, 1), moves: make(chan runview.Move), done: make(chan struct{})}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		v.steer(signals, keys)
	}()
	signals <- launcher.Signal{Number: syscall.SIGCHLD}
	for _, step := range []struct {
		signal syscall.Signal
		want   runview.Move
	}{{syscall.SIGWINCH, runview.Redraw}, {syscall.SIGTSTP, runview.Pause}, {syscall.SIGCONT, runview.Redraw}, {syscall.SIGCONT, runview.Redraw}} {
		signals <- launcher.Signal{Number: step.signal}
		if got := <-v.moves; got != step.want {
			t.Errorf("%v: move %d, want %d", step.signal, got, step.want)
		}
	}
	<-v.continued
	signals <- launcher.Signal{Number: syscall.SIGHUP}
	<-ended
	if _, open := <-v.moves; open || v.ended != syscall.SIGHUP {
		t.Errorf("open %v, ended by %v", open, v.ended)
	}
}
