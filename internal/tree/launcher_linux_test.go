package tree

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"lenslaunch/internal/proc"
)

// A fake launcher is told on stdin what to do, one line each, and answers each with a
// line of JSON on stdout. It is a process of its own because it adopts orphans.
type fakeLauncher struct {
	spawner *proc.Spawner
	finder  Finder
	ranks   []*proc.Child
	reaped  map[int]bool
	guard   *proc.Child
	out     *json.Encoder
}

// beLauncher starts a rank for each kind of offspring in args.
func beLauncher(args []string) int {
	l := &fakeLauncher{reaped: map[int]bool{}, out: json.NewEncoder(os.Stdout)}
	if err := l.begin(args); err != nil {
		return must(err)
	}
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		answer, err := l.do(strings.Fields(lines.Text()))
		if err != nil {
			return must(err)
		}
		if err := l.out.Encode(answer); err != nil {
			return must(err)
		}
	}
	return 0
}

func (l *fakeLauncher) begin(kinds []string) error {
	if os.Getpid() == 1 { // in a pid namespace of our own, and a mount namespace
		if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
			return err
		}
		if err := unix.Mount("proc", "/proc", "proc", 0, ""); err != nil {
			return err
		}
	}
	if err := proc.BecomeSubreaper(); err != nil {
		return err
	}
	var err error
	if l.spawner, err = proc.NewSpawner(); err != nil {
		return err
	}
	l.finder.Strangers = l.spawner.Strangers()
	l.finder.Adopting = os.Getpid() != 1 && len(l.finder.Strangers) == 0
	if l.finder.Mark, err = NewMark(3); err != nil {
		return err
	}
	l.finder.Root = l.finder.Mark.Launcher
	// The guard has children too; it is told apart by nothing but its identity.
	if l.guard, err = l.spawner.Start(actor("rank", "own session", "stay")); err != nil {
		return err
	}
	l.finder.Exclude = []proc.ID{l.guard.ID}
	for local, arg := range kinds {
		kind, then, _ := strings.Cut(arg, "/")
		if then == "" {
			then = "stay"
		}
		cmd := actor("rank", kind, then)
		cmd.Env = append(cmd.Env, Variable+"="+l.finder.Mark.Value(local))
		if then == "nobody" {
			cmd.SysProcAttr.Credential = &syscall.Credential{Uid: nobody, Gid: nobody}
		}
		child, err := l.spawner.Start(cmd)
		if err != nil {
			return err
		}
		l.ranks = append(l.ranks, child)
		l.finder.Leaders = append(l.finder.Leaders, child.ID)
	}
	return nil
}

// do carries out one command.
func (l *fakeLauncher) do(command []string) (any, error) {
	number := func(i int) int { n, _ := strconv.Atoi(command[i]); return n }
	switch command[0] {
	case "finder":
		return l.finder, nil
	case "find":
		return l.finder.Find(), nil
	case "rank":
		return l.finder.FindRank(number(1)), nil
	case "signal":
		return Signal(l.finder, number(1), syscall.Signal(number(2))), nil
	case "wait": // for a leader; it stays a zombie
		exit, err := l.ranks[number(1)].Wait()
		return exit.String(), err
	case "reap":
		l.reaped[number(1)] = true
		l.ranks[number(1)].Reap()
		return nil, nil
	case "state":
		st, err := proc.ReadStat(number(1))
		if err != nil {
			return nil, nil
		}
		return st, nil
	case "setuid":
		return nil, syscall.Setuid(number(1))
	case "descriptors": // leaves no more than that many
		return nil, leaveDescriptors(number(1))
	case "sweep":
		return l.sweep(time.Duration(number(1)) * time.Millisecond)
	case "below": // zombies too
		return proc.Descendants(l.finder.Root, nil)
	}
	return nil, fmt.Errorf("unknown command %q", command)
}

// sweep ends the attempt and collects the leaders, as a launcher does.
func (l *fakeLauncher) sweep(limit time.Duration) (Result, error) {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	r := Sweep(ctx, l.finder, func() { l.spawner.ReapOrphans() })
	for local, c := range l.ranks {
		if l.reaped[local] || c.ID.Alive() { // the latter is reported as left
			continue
		}
		if _, err := c.Wait(); err != nil {
			return r, err
		}
		l.reaped[local] = true
		c.Reap()
	}
	return r, nil
}

// leaveDescriptors opens files until only some are free.
func leaveDescriptors(n int) error {
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: 64, Max: 64}); err != nil {
		return err
	}
	var last []int
	for {
		fd, err := syscall.Open(os.DevNull, syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
		if err != nil {
			break
		}
		last = append(last, fd)
	}
	for _, fd := range last[len(last)-n:] {
		_ = syscall.Close(fd)
	}
	return nil
}

// nobody is a user without any right.
const nobody = 65534

// launcherCommand is a fake launcher with ranks of these kinds.
func launcherCommand(kinds ...string) *exec.Cmd {
	return actor("launcher", kinds...)
}
