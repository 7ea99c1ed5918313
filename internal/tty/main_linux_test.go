package tty

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"lenslaunch/test/harness"
)

// The test binary is also a shell with a terminal of its own, the job that the shell
// runs, and the processes that the job starts:
//
//	test ──pty──▶ shell (leads the session) ──▶ job (a case) ──▶ idle, grab
//	  ▲                                          │
//	  └────────── pipe: what is wrong ───────────┘
const roleVariable = "TTY_TEST_ROLE"

// reportFD is where a job says what is wrong.
const reportFD = 3

func TestMain(m *testing.M) {
	role, name, _ := strings.Cut(os.Getenv(roleVariable), " ")
	switch role {
	case "shell":
		os.Exit(shell(name, true))
	case "background":
		os.Exit(shell(name, false))
	case "job":
		os.Exit(run(name))
	case "idle", "grab":
		os.Exit(idle(role == "grab"))
	}
	os.Exit(m.Run())
}

// again is a command that runs this binary in another role.
func again(role string) *exec.Cmd {
	cmd := exec.Command("/proc/self/exe")
	// The race detector would let each process wait for a second before it ends.
	cmd.Env = append(os.Environ(), roleVariable+"="+role, "GORACE=atexit_sleep_ms=0")
	return cmd
}

// shell runs a job as a shell with job control does and returns 0 if it ended well; a
// job that was stopped has failed.
func shell(job string, foreground bool) int {
	report := os.NewFile(reportFD, "report")
	cmd := again("job " + job)
	cmd.Stdin, cmd.Stdout, cmd.Stderr, cmd.ExtraFiles = os.Stdin, os.Stdout, os.Stderr, []*os.File{report}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Foreground: foreground, Ctty: 0, Pdeathsig: syscall.SIGKILL}
	if job == "outer-group" {
		cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWPID, Pdeathsig: syscall.SIGKILL}
	}
	if err := cmd.Start(); err != nil {
		fmt.Fprintln(report, "cannot start the job:", err)
		return 1
	}
	var status unix.WaitStatus
	if _, err := unix.Wait4(cmd.Process.Pid, &status, unix.WUNTRACED, nil); err != nil || !status.Exited() {
		fmt.Fprintf(report, "the job has not ended: status %#x, error %v\n", status, err)
		return 1
	}
	return status.ExitStatus()
}

// idle lives until its stdin ends; with grab it first takes the foreground, as a shell
// does that has seen its job stopped.
func idle(grab bool) int {
	if grab {
		if err := setAction(&sigaction{handler: ignore}, nil); err != nil {
			return 1
		}
		if err := unix.IoctlSetPointerInt(1, unix.TIOCSPGRP, unix.Getpgrp()); err != nil {
			return 1
		}
	}
	fmt.Fprintln(os.Stderr, "ready")
	_, _ = io.Copy(io.Discard, os.Stdin)
	return 0
}

// A job is one case, with a terminal and a place to say what is wrong.
type job struct {
	report *os.File
	term   *Terminal
	failed bool
}

func run(name string) int {
	j := &job{report: os.NewFile(reportFD, "report")}
	var ok bool
	if j.term, ok = Of(os.Stdin); ok != (name != "outer-group") {
		fmt.Fprintln(j.report, "Of found a terminal:", ok)
		return 1
	}
	cases[name](j)
	if j.failed {
		return 1
	}
	return 0
}

// check notes what is wrong.
func (j *job) check(right bool, format string, args ...any) {
	if !right {
		j.failed = true
		fmt.Fprintf(j.report, format+"\n", args...)
	}
}

// start starts a process in a group of its own and returns its pid and what ends it.
func (j *job) start(role string) (pid int, end func()) {
	cmd := again(role)
	cmd.Stdout = os.Stdout
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	stdin, err := cmd.StdinPipe()
	j.check(err == nil, "%v", err)
	stderr, err := cmd.StderrPipe()
	j.check(err == nil, "%v", err)
	err = cmd.Start()
	j.check(err == nil, "%v", err)
	_, err = io.ReadFull(stderr, make([]byte, len("ready\n")))
	j.check(err == nil, "%s is not ready: %v", role, err)
	return cmd.Process.Pid, func() {
		stdin.Close()
		err := cmd.Wait()
		j.check(err == nil, "%s: %v", role, err)
	}
}

// foreground checks which group has the terminal.
func (j *job) foreground(want int) {
	got, err := j.term.Foreground()
	j.check(err == nil && got == want, "foreground group %d, want %d (error %v)", got, want, err)
	j.check(j.term.Mine() == (want == unix.Getpgrp()), "Mine: %v", j.term.Mine())
}

// runJob runs one case under a shell of its own.
func runJob(t *testing.T, role string) {
	t.Helper()
	pty := harness.OpenPTY(t)
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd := again(role)
	cmd.Stdin, cmd.Stdout, cmd.Stderr, cmd.ExtraFiles = pty.Slave, pty.Slave, pty.Slave, []*os.File{w}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true, Ctty: 0, Pdeathsig: syscall.SIGKILL}
	cmd.WaitDelay = time.Second
	err = cmd.Start()
	w.Close()
	if err != nil {
		t.Fatal(err)
	}
	late := time.AfterFunc(time.Minute, func() { _ = cmd.Process.Kill() })
	defer late.Stop()
	wrong, _ := io.ReadAll(r)
	r.Close()
	if err := cmd.Wait(); err != nil || len(wrong) > 0 {
		t.Errorf("%v\n%s", err, wrong)
	}
}
