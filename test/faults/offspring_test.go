//go:build faults && linux

package faults

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// kind is what a rank leaves behind.
type kind struct {
	name string
	role string // of the process that the rank starts
	says int    // how many processes of it report
	attr syscall.SysProcAttr
	loud bool // it keeps the rank's stdout and stderr
	deaf bool // the rank ignores SIGTERM and SIGINT, too
}

// kinds are the columns of the matrix, in the order.
func kinds() []kind {
	return []kind{
		{name: "plain child", role: "sleeper", says: 1},
		{name: "own group", role: "sleeper", says: 1, attr: syscall.SysProcAttr{Setpgid: true}},
		{name: "own session", role: "sleeper", says: 1, attr: syscall.SysProcAttr{Setsid: true}},
		{name: "daemon", role: "middle", says: 1, attr: syscall.SysProcAttr{Setsid: true}},
		{name: "ignores TERM", role: "deaf", says: 1, deaf: true},
		{name: "stopped", role: "stopper", says: 1},
		{name: "holds pipes", role: "sleeper", says: 1, loud: true, attr: syscall.SysProcAttr{Setsid: true}},
		{name: "fork loop", role: "forker", says: 2},
	}
}

// otherKinds are for tests beside the matrix.
func otherKinds() []kind {
	return []kind{
		{name: "deaf child", role: "deaf", says: 1}, // of a rank that hears
		{name: "tattler", role: "tattler", says: 1},
		{name: "escapee", role: "escapee", says: 1},
	}
}

func kindNamed(name string) (kind, error) {
	for _, k := range append(kinds(), otherKinds()...) {
		if k.name == name {
			return k, nil
		}
	}
	return kind{}, fmt.Errorf("no kind %q", name)
}

// Descriptors that offspring inherit: the rank's connection to the test, whose end
// tells of theirs; the listening socket of rank 0, as a forked data loader would have
// it; and a pipe on which they say that they are in place.
const (
	lifelineFD = 3
	portFD     = 4
	sayFD      = 5
)

// spawn starts the offspring of a rank and returns their pids once all are in place.
func (k kind) spawn(lifeline, port *os.File) ([]int, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = append(os.Environ(), roleVariable+"="+k.role)
	cmd.ExtraFiles = []*os.File{lifeline, port, w}
	cmd.SysProcAttr = &k.attr
	if k.loud {
		cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	}
	err = cmd.Start()
	w.Close()
	if err != nil {
		return nil, err
	}
	pids, err := hear(r, k.says)
	if err != nil || k.role != "stopper" {
		go func() { _ = cmd.Wait() }() // the middle of a daemon ends at once
		return pids, err
	}
	// It is in place only once the kernel says that it stands still.
	_, err = syscall.Wait4(cmd.Process.Pid, nil, syscall.WUNTRACED, nil)
	return pids, err
}

func hear(r *os.File, lines int) ([]int, error) {
	var pids []int
	for sc := bufio.NewScanner(r); len(pids) < lines && sc.Scan(); {
		pid, err := strconv.Atoi(sc.Text())
		if err != nil {
			return nil, err
		}
		pids = append(pids, pid)
	}
	if len(pids) < lines {
		return nil, fmt.Errorf("%d of %d offspring are in place", len(pids), lines)
	}
	return pids, nil
}

// say tells the rank that this process is in place.
func say() error {
	_, err := syscall.Write(sayFD, []byte(strconv.Itoa(os.Getpid())+"\n"))
	return err
}

// forever sleeps until the process is killed. The runtime would call an empty select
// a deadlock.
func forever() error {
	signal.Notify(make(chan os.Signal, 1), syscall.SIGWINCH)
	select {}
}

func sleeperRole() error {
	if err := say(); err != nil {
		return err
	}
	return forever()
}

func deafRole() error {
	signal.Ignore(syscall.SIGTERM, syscall.SIGINT)
	return sleeperRole()
}

// tattlerRole tells the test of every SIGTERM, on the rank's connection.
func tattlerRole() error {
	told := make(chan os.Signal, 8)
	signal.Notify(told, syscall.SIGTERM)
	if err := say(); err != nil {
		return err
	}
	for range told {
		if _, err := syscall.Write(lifelineFD, []byte("the child was signalled\n")); err != nil {
			return err
		}
	}
	return nil
}

// escapeeRole leaves the control group that it was born in.
func escapeeRole() error {
	if err := os.WriteFile(os.Getenv("FAULTS_ESCAPE")+"/cgroup.procs", []byte("0"), 0); err != nil {
		return err
	}
	return sleeperRole()
}

func stopperRole() error {
	if err := say(); err != nil {
		return err
	}
	if err := syscall.Kill(os.Getpid(), syscall.SIGSTOP); err != nil {
		return err
	}
	return forever()
}

// middleRole is the process between a daemon and its maker: it leads the session,
// starts the daemon and goes.
func middleRole() error {
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = append(os.Environ(), roleVariable+"=sleeper")
	for fd := uintptr(lifelineFD); fd <= sayFD; fd++ {
		cmd.ExtraFiles = append(cmd.ExtraFiles, os.NewFile(fd, "inherited"))
	}
	return cmd.Start()
}

// enterRole goes into a control group, limits itself, opens files that it leaves open,
// and gives up its privileges, each if it is told to, and becomes the program in its
// arguments.
func enterRole() error {
	if group := os.Getenv("FAULTS_GROUP"); group != "" {
		if err := os.WriteFile(group+"/cgroup.procs", []byte("0"), 0); err != nil {
			return err
		}
	}
	for variable, resource := range map[string]int{"FAULTS_NPROC": unix.RLIMIT_NPROC, "FAULTS_NOFILE": unix.RLIMIT_NOFILE} {
		if n, err := strconv.ParseUint(os.Getenv(variable), 10, 64); err == nil {
			if err := unix.Setrlimit(resource, &unix.Rlimit{Cur: n, Max: n}); err != nil {
				return err
			}
		}
	}
	for held, _ := strconv.Atoi(os.Getenv("FAULTS_HELD")); held > 0; held-- {
		if _, err := syscall.Open(os.DevNull, syscall.O_RDONLY, 0); err != nil {
			return err
		}
	}
	if uid, err := strconv.Atoi(os.Getenv("FAULTS_UID")); err == nil {
		if err := errors.Join(syscall.Setgroups(nil), syscall.Setgid(uid), syscall.Setuid(uid)); err != nil {
			return err
		}
	}
	env := slices.DeleteFunc(os.Environ(), func(entry string) bool { return strings.HasPrefix(entry, roleVariable+"=") })
	return syscall.Exec(os.Args[1], os.Args[1:], append(env, roleVariable+"=rank"))
}

// bystanderRole lives until its stdin ends.
func bystanderRole() error {
	_, err := io.Copy(io.Discard, os.Stdin)
	return err
}
