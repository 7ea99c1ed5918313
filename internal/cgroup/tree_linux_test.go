package cgroup

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// wait bounds what must happen; nothing ever takes that long.
const wait = 20 * time.Second

// start starts a helper in a group (nil: in ours) and returns the processes of its
// tree, once all of them have said their pid.
func start(tb testing.TB, g *Group, size int, behaviour string, args ...string) (*exec.Cmd, []process) {
	tb.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		tb.Fatal(err)
	}
	defer r.Close()
	cmd := helper(behaviour, args...)
	cmd.Stdout, cmd.Stderr = w, os.Stderr
	if g != nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{UseCgroupFD: true, CgroupFD: g.FD()}
	}
	err = cmd.Start()
	w.Close()
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	var all []process
	for lines := bufio.NewScanner(r); len(all) < size; {
		if !lines.Scan() {
			tb.Fatalf("%s: %d of %d processes are there: %v", behaviour, len(all), size, lines.Err())
		}
		pid, err := strconv.Atoi(lines.Text())
		if err != nil {
			tb.Fatal(err)
		}
		all = append(all, pin(tb, pid))
	}
	return cmd, all
}

func waitEmpty(tb testing.TB, g *Group) {
	tb.Helper()
	ctx, cancel := context.WithTimeout(tb.Context(), wait)
	defer cancel()
	if err := g.WaitEmpty(ctx); err != nil {
		pids, _ := g.Pids()
		tb.Fatalf("%v; alive: %v", err, pids)
	}
}

// killers are the two ways to end a group: that of this kernel, and that of
// kernels without cgroup.kill.
var killers = []struct {
	name string
	kill func(*Group) error
}{
	{"cgroup.kill", (*Group).Kill},
	{"freeze", (*Group).killFrozen},
}

// Every kind of tree is gone after Kill, the group can be removed, and who is
// outside lives.
func TestKillTree(t *testing.T) {
	tests := []struct {
		behaviour string
		size      int // processes that live
	}{
		{"hang", 1},
		{"ignore-term", 1},
		{"stopped", 1},
		{"child", 2},
		{"grandchild", 3},
		{"daemon", 1},
		{"fork-loop", 0},
	}
	for _, k := range killers {
		for _, tt := range tests {
			t.Run(k.name+"/"+tt.behaviour, func(t *testing.T) {
				g := group(t)
				rank, err := g.Sub("rank-0")
				if err != nil {
					t.Fatal(err)
				}
				defer rank.Close()
				_, innocent := start(t, nil, 1, "ignore-term")
				all := startTree(t, rank, tt.behaviour, tt.size)
				if err := k.kill(g); err != nil {
					t.Fatal(err)
				}
				waitEmpty(t, g)
				for _, p := range all {
					if !p.ended(wait) {
						t.Errorf("pid %d lives", p.pid)
					}
				}
				if innocent[0].ended(0) {
					t.Error("a process outside of the group was killed")
				}
				if err := g.Remove(); err != nil {
					t.Error(err)
				}
			})
		}
	}
}

// startTree also makes sure that all of the tree was born into the group.
func startTree(t *testing.T, g *Group, behaviour string, size int) []process {
	t.Helper()
	if behaviour == "fork-loop" { // four at once; their pids change all the time
		for range 4 {
			start(t, g, 1, behaviour)
		}
		if pids, err := g.Pids(); err != nil || len(pids) == 0 {
			t.Fatalf("no fork loop is running: %v, %v", pids, err)
		}
		return nil
	}
	_, all := start(t, g, size, behaviour)
	pids, err := g.Pids()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range all {
		if !slices.Contains(pids, p.pid) {
			t.Fatalf("pid %d is not in the group %v", p.pid, pids)
		}
	}
	return all
}

// Who left the group on its own is no longer ours. (TensorRT-LLM#16404: only what
// we created.)
func TestWhoMovedOutIsNotKilled(t *testing.T) {
	p := parent(t)
	for _, k := range killers {
		t.Run(k.name, func(t *testing.T) {
			g := group(t)
			_, stays := start(t, g, 1, "hang")
			_, left := start(t, g, 1, "escape", p.Path())
			if n, err := g.Signal(0); n != 1 || err != nil {
				t.Errorf("Signal reached %d processes, %v", n, err)
			}
			if err := k.kill(g); err != nil {
				t.Fatal(err)
			}
			if !stays[0].ended(wait) {
				t.Error("the one that stayed lives")
			}
			if left[0].ended(0) {
				t.Error("the one that left was killed")
			}
		})
	}
}

// A group of another launcher beside ours is untouched.
func TestKillLeavesTheNextGroupAlone(t *testing.T) {
	for _, k := range killers {
		t.Run(k.name, func(t *testing.T) {
			mine, other := group(t), group(t)
			start(t, mine, 1, "hang")
			_, theirs := start(t, other, 1, "hang")
			if err := k.kill(mine); err != nil {
				t.Fatal(err)
			}
			waitEmpty(t, mine)
			if theirs[0].ended(0) {
				t.Error("a process of the next group was killed")
			}
		})
	}
}

func TestKillNobody(t *testing.T) {
	for _, k := range killers {
		g := group(t)
		if err := k.kill(g); err != nil {
			t.Errorf("%s of an empty group: %v", k.name, err)
		}
		if err := g.Remove(); err != nil {
			t.Fatal(err)
		}
		if err := k.kill(g); err != nil {
			t.Errorf("%s of a removed group: %v", k.name, err)
		}
	}
}

// Freezing must not outlive the kill: a group that is used again is not frozen.
func TestKillFrozenThaws(t *testing.T) {
	g := group(t)
	start(t, g, 1, "hang")
	if err := g.killFrozen(); err != nil {
		t.Fatal(err)
	}
	waitEmpty(t, g)
	cmd, _ := start(t, g, 0, "exit")
	if err := cmd.Wait(); err != nil {
		t.Errorf("a process started afterwards: %v", err)
	}
}

// One signal each, to exactly the members, in all groups below.
func TestSignal(t *testing.T) {
	g := group(t)
	var all []process
	for i := range 3 {
		sub, err := g.Sub(fmt.Sprintf("rank-%d", i))
		if err != nil {
			t.Fatal(err)
		}
		defer sub.Close()
		_, some := start(t, sub, 2, "child")
		all = append(all, some...)
	}
	_, deaf := start(t, g, 1, "ignore-term")
	_, outside := start(t, nil, 1, "hang")
	if n, err := g.Signal(syscall.SIGTERM); n != len(all)+1 || err != nil {
		t.Errorf("Signal = %d, %v, want %d", n, err, len(all)+1)
	}
	for _, p := range all {
		if !p.ended(wait) {
			t.Errorf("pid %d lives after SIGTERM", p.pid)
		}
	}
	if deaf[0].ended(0) || outside[0].ended(0) {
		t.Error("SIGTERM ended one that ignores it, or one outside")
	}
}

// golang/go#16028, nomad#23969: a listed pid is another process by now. signal is
// handed pids that are not members: they are pinned, seen to be outside, and spared.
func TestSignalSparesRecycledPid(t *testing.T) {
	g := group(t)
	_, inside := start(t, g, 1, "hang")
	_, outside := start(t, nil, 1, "hang")
	gone := helper("exit")
	if err := gone.Run(); err != nil {
		t.Fatal(err)
	}
	stale := []int{outside[0].pid, inside[0].pid, gone.Process.Pid, os.Getpid()}
	if n, err := g.signal(stale, syscall.SIGKILL); n != 1 || err != nil {
		t.Errorf("signal = %d, %v, want only the member", n, err)
	}
	if !inside[0].ended(wait) || outside[0].ended(0) {
		t.Error("the wrong process was killed")
	}
}

func TestSignalNobody(t *testing.T) {
	g := group(t)
	if n, err := g.Signal(syscall.SIGKILL); n != 0 || err != nil {
		t.Errorf("Signal to an empty group = %d, %v", n, err)
	}
	if err := g.Remove(); err != nil {
		t.Fatal(err)
	}
	if n, err := g.Signal(syscall.SIGKILL); n != 0 || err != nil {
		t.Errorf("Signal to a removed group = %d, %v", n, err)
	}
}

// More members than one piece of Signal, and pids in order.
func TestManyMembers(t *testing.T) {
	if testing.Short() {
		t.Skip("starts 150 processes")
	}
	g := group(t)
	var cmds []*exec.Cmd
	for range 150 {
		// cat is small, and lives as long as its stdin is open.
		cmd := exec.Command("cat")
		cmd.SysProcAttr = &syscall.SysProcAttr{UseCgroupFD: true, CgroupFD: g.FD()}
		in, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		defer in.Close()
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		cmds = append(cmds, cmd)
	}
	pids, err := g.Pids()
	if err != nil || len(pids) != len(cmds) || !slices.IsSorted(pids) {
		t.Errorf("Pids = %v, %v", pids, err)
	}
	if n, err := g.Signal(syscall.SIGTERM); n != len(cmds) || err != nil {
		t.Errorf("Signal = %d, %v", n, err)
	}
	for _, cmd := range cmds {
		_ = cmd.Wait()
	}
	waitEmpty(t, g)
}

// parsePids never gives 0, which kill would take for our own process group.
func TestParsePids(t *testing.T) {
	if got := parsePids("12\n0\n-3\nx\n\n99999999999999999999\n7"); !slices.Equal(got, []int{12, 7}) {
		t.Errorf("parsePids = %v", got)
	}
}

func FuzzParsePids(f *testing.F) {
	f.Add("12\n0\n-3\n")
	f.Fuzz(func(t *testing.T, text string) {
		if i := slices.IndexFunc(parsePids(text), func(pid int) bool { return pid <= 0 }); i >= 0 {
			t.Errorf("%q gives a pid that is none", text)
		}
	})
}

// A threaded group that a worker made below ours hides its processes from its own
// list; they are still found, and killed.
func TestThreadedGroupBelow(t *testing.T) {
	g := group(t)
	cmd, all := start(t, g, 1, "hang")
	sub, err := g.Sub("threads")
	if err != nil {
		t.Fatal(err)
	}
	defer sub.Close()
	if err := writeAt(sub.dir, "cgroup.type", "threaded"); err != nil {
		t.Skipf("no threaded groups here: %v", err)
	}
	if err := writeAt(sub.dir, "cgroup.threads", strconv.Itoa(cmd.Process.Pid)); err != nil {
		t.Fatal(err)
	}
	if n, err := g.Signal(0); n != 1 || err != nil {
		t.Errorf("Signal = %d, %v", n, err)
	}
	if err := g.killFrozen(); err != nil {
		t.Error(err)
	}
	if !all[0].ended(wait) {
		t.Error("its process lives")
	}
}

// A probe that fails says why.
func TestProbeErrors(t *testing.T) {
	g := group(t)
	if err := g.Probe(); err != nil {
		t.Fatal(err)
	}
	sub, err := g.Sub("threads")
	if err != nil {
		t.Fatal(err)
	}
	defer sub.Close()
	if err := writeAt(sub.dir, "cgroup.type", "threaded"); err != nil {
		t.Skipf("no threaded groups here: %v", err)
	}
	invalid, err := g.Sub("beside") // "domain invalid", since g has a threaded child
	if err != nil {
		t.Fatal(err)
	}
	defer invalid.Close()
	err = invalid.Probe()
	if !errors.Is(err, unix.EOPNOTSUPP) || !strings.Contains(err.Error(), "threaded") {
		t.Errorf("Probe of a group that takes no process: %v", err)
	}
	if err := invalid.Remove(); err != nil {
		t.Fatal(err)
	}
	if err := invalid.Probe(); err == nil {
		t.Error("Probe of a removed group succeeds")
	}
}
