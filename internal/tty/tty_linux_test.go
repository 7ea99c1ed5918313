package tty

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"lenslaunch/test/harness"
)

// cases are what a job does under a shell; runJob runs them.
var cases = map[string]func(*job){
	"give-and-take":     giveAndTake,
	"modes":             modes,
	"tostop":            tostop,
	"taken-by-a-shell":  takenByShell,
	"group-that-is-not": noGroup,
	"not-in-foreground": notInForeground,
	"nothing-to-take":   nothingToTake,
	"outer-group":       func(*job) {},
}

func TestGiveAndTake(t *testing.T)      { runJob(t, "shell give-and-take") }
func TestModesComeBack(t *testing.T)    { runJob(t, "shell modes") }
func TestTostop(t *testing.T)           { runJob(t, "shell tostop") }
func TestTakenByAShell(t *testing.T)    { runJob(t, "shell taken-by-a-shell") }
func TestGroupThatIsNot(t *testing.T)   { runJob(t, "shell group-that-is-not") }
func TestNothingToTake(t *testing.T)    { runJob(t, "shell nothing-to-take") }
func TestBackgroundGroup(t *testing.T)  { runJob(t, "background not-in-foreground") }
func TestGroupOutsideOfUs(t *testing.T) { requireRoot(t); runJob(t, "shell outer-group") }

func requireRoot(t *testing.T) {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("a pid namespace needs root")
	}
}

func giveAndTake(j *job) {
	j.foreground(unix.Getpgrp())
	for range 2 {
		pid, end := j.start("idle")
		err := j.term.Give(pid)
		j.check(err == nil, "%v", err)
		j.foreground(pid)
		end() // its group is gone, and nobody has the foreground
		taken, err := j.term.Take(true)
		j.check(taken && err == nil, "taken: %v, error %v", taken, err)
		j.foreground(unix.Getpgrp())
	}
}

// echo is the mode that a debugger leaves behind when it is killed.
func (j *job) echo(set bool) {
	modes, err := unix.IoctlGetTermios(0, unix.TCGETS)
	j.check(err == nil, "%v", err)
	modes.Lflag &^= unix.ECHO
	if set {
		modes.Lflag |= unix.ECHO
	}
	err = unix.IoctlSetTermios(0, unix.TCSETS, modes)
	j.check(err == nil, "%v", err)
}

func (j *job) echoes() bool {
	modes, err := unix.IoctlGetTermios(0, unix.TCGETS)
	j.check(err == nil, "%v", err)
	return modes.Lflag&unix.ECHO != 0
}

func modes(j *job) {
	for _, restore := range []bool{true, false} {
		pid, end := j.start("idle")
		j.echo(true)
		err := j.term.Give(pid)
		j.check(err == nil, "%v", err)
		j.echo(false) // from the background: it does not stop us
		_, err = j.term.Take(restore)
		j.check(err == nil && j.echoes() == restore, "restore %v: echo %v, error %v", restore, j.echoes(), err)
		end()
	}
}

// With `stty tostop` a process that prints from the background is stopped, as the shell
// of this test would see. A launcher whose rank has the foreground must not be.
func tostop(j *job) {
	modes, err := unix.IoctlGetTermios(0, unix.TCGETS)
	j.check(err == nil, "%v", err)
	modes.Lflag |= unix.TOSTOP
	err = unix.IoctlSetTermios(0, unix.TCSETS, modes)
	j.check(err == nil && !j.ignores(), "SIGTTOU is ignored before anything happened, or %v", err)

	pid, end := j.start("idle")
	err = j.term.Give(pid)
	j.check(err == nil && j.ignores(), "SIGTTOU is not ignored, or %v", err)
	fmt.Println("from the background")
	_, err = j.term.Take(true)
	j.check(err == nil && !j.ignores(), "SIGTTOU stays ignored, or %v", err)
	end()
}

// ignores reports whether this process ignores SIGTTOU.
func (j *job) ignores() bool {
	status, err := os.ReadFile("/proc/self/status")
	j.check(err == nil, "%v", err)
	_, rest, _ := strings.Cut(string(status), "SigIgn:\t")
	mask, err := strconv.ParseUint(rest[:16], 16, 64)
	j.check(err == nil, "%v", err)
	return mask&(1<<(unix.SIGTTOU-1)) != 0
}

// A shell that saw us stopped has the foreground for its prompt.
func takenByShell(j *job) {
	worker, endWorker := j.start("idle")
	err := j.term.Give(worker)
	j.check(err == nil, "%v", err)
	other, endOther := j.start("grab")
	j.foreground(other)
	taken, err := j.term.Take(true)
	j.check(!taken && err == nil, "taken: %v, error %v", taken, err)
	j.foreground(other)

	endOther()
	taken, err = j.term.Take(true)
	j.check(taken && err == nil, "taken after its end: %v, error %v", taken, err)
	j.foreground(unix.Getpgrp())
	endWorker()
}

func noGroup(j *job) {
	pid, end := j.start("idle")
	end()
	err := j.term.Give(pid)
	j.check(err != nil, "a group without processes got the foreground")
	j.check(!j.ignores(), "SIGTTOU is ignored although nothing was given")
	j.foreground(unix.Getpgrp())
}

func notInForeground(j *job) {
	j.check(!j.term.Mine(), "a job in the background has the terminal")
	taken, err := j.term.Take(true)
	j.check(!taken && err == nil, "taken: %v, error %v", taken, err)
	j.check(!j.term.Mine(), "a job in the background took what it never had")
}

func nothingToTake(j *job) {
	j.echo(false)
	taken, err := j.term.Take(true)
	j.check(taken && err == nil && !j.echoes(), "taken: %v, error %v, modes changed: %v", taken, err, j.echoes())
}

func TestWhatIsNoTerminalOfOurs(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	file, err := os.Create(filepath.Join(t.TempDir(), "file"))
	if err != nil {
		t.Fatal(err)
	}
	closed := *file
	file.Close()
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	for name, f := range map[string]*os.File{
		"nil": nil, "pipe": r, "closed file": &closed, "/dev/null": null,
		"terminal of nobody": harness.OpenPTY(t).Slave,
	} {
		if _, ok := Of(f); ok {
			t.Errorf("%s is taken for our terminal", name)
		}
	}
}
