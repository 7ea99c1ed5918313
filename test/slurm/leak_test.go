//go:build slurm && linux

package slurm

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"lenslaunch/internal/proc"
)

// daemonAbove is the process of Slurm that has started a rank's launcher.
func daemonAbove(t *testing.T, l *life) proc.ID {
	t.Helper()
	for pid := l.Parent; pid > 1; {
		st, err := proc.ReadStat(pid)
		if err != nil {
			t.Fatal(err)
		}
		if st.Comm == "slurmstepd" {
			return st.ID
		}
		pid = st.Parent
	}
	t.Fatalf("no slurmstepd above pid %d", l.Pid)
	return proc.ID{}
}

// awaitEnd waits for a launcher, which leaves after its ranks.
func awaitEnd(t *testing.T, pid int) {
	t.Helper()
	st, err := proc.ReadStat(pid)
	if proc.Gone(err) {
		return
	}
	if err != nil || st.Comm != "lenslaunch" {
		t.Fatalf("pid %d is no launcher: %+v, %v", pid, st, err)
	}
	handle, err := proc.Hold(st.ID)
	if proc.Gone(err) {
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	defer handle.Close()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if err := handle.Wait(ctx); err != nil {
		t.Fatalf("the launcher does not end: %v", err)
	}
}

// Fencing: to Slurm a step without its slurmstepd is over, and another job may get its
// GPUs. The launcher stops its ranks, in order.
func TestSlurmstepdThatIsKilled(t *testing.T) {
	t.Parallel()
	c, h := sharedCluster(t), newHub(t)
	c.clean(h)
	dir := c.folder(t)
	j, list := c.stepOf(h, dir, "litter")
	handle, err := proc.Hold(daemonAbove(t, list[0]))
	if err != nil {
		t.Fatal(err)
	}
	defer handle.Close()
	if err := handle.Signal(unix.SIGKILL); err != nil {
		t.Fatal(err)
	}
	h.end(patience, list[:2]...)
	awaitEnd(t, list[0].Parent)
	if list[0].count("SIGTERM") == 0 {
		t.Error("they were not asked")
	}
	text, err := os.ReadFile(filepath.Join(dir, "run", "node-0", "events.jsonl"))
	if err != nil || !strings.Contains(string(text), `"event":"step_gone"`) || !strings.Contains(string(text), `"exit_code":75`) {
		t.Errorf("%v\n%s", err, tail(string(text)))
	}
	c.must(h, "scancel", list[0].Env["SLURM_JOB_ID"])
	h.end(patience, list[2:]...)
	j.code()
}

// Nothing of a job is left however it ends, whatever Slurm finds its processes by.
func TestNothingIsLeft(t *testing.T) {
	for _, track := range []string{"linuxproc", "pgid", "cgroup"} {
		t.Run(track, func(t *testing.T) {
			t.Parallel()
			c := sharedCluster(t)
			if track != "linuxproc" {
				c = clusterWith(t, track)
			}
			for _, how := range []string{"end", "failure", "scancel", "scancel of the step", "launcher killed"} {
				t.Run(how, func(t *testing.T) { t.Parallel(); leak(t, c, how) })
			}
		})
	}
}

// clusterWith brings up a second cluster, which ends with the test.
func clusterWith(t *testing.T, track string) *cluster {
	t.Helper()
	if track == "cgroup" {
		if why := noCgroup(); why != "" {
			t.Skip("proctrack/cgroup cannot be had here: " + why)
		}
	}
	c, err := bringUp(map[string]int{"pgid": 1, "cgroup": 2}[track], "NODES=2", "PROCTRACK="+track)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.down(); err != nil {
			t.Error(err)
		}
	})
	return c
}

// noCgroup says what this machine lacks for proctrack/cgroup.
func noCgroup() string {
	if _, err := os.Stat("/sys/fs/cgroup/cgroup.controllers"); err == nil {
		if exec.Command("systemctl", "is-system-running").Run() != nil {
			return "on a machine with control groups of version 2 alone slurmd needs systemd"
		}
		return ""
	}
	probe := "/sys/fs/cgroup/freezer/lenslaunch-probe-" + strconv.Itoa(os.Getpid())
	if err := os.Mkdir(probe, 0o755); err != nil {
		return fmt.Sprintf("no control group can be made below /sys/fs/cgroup/freezer: %v", err)
	}
	if err := os.Remove(probe); err != nil {
		return err.Error()
	}
	return ""
}

// leak runs a step whose ranks have children and daemons, ends it, and waits until the
// last of them is gone.
func leak(t *testing.T, c *cluster, how string) {
	h := newHub(t)
	c.clean(h)
	j := c.start(h, []string{modeVariable + "=litter"}, append(c.step("--kill-on-bad-exit=1"), "--nproc", "2", "--", c.home("rank"))...)
	list := h.ranks(4)
	switch how {
	case "end":
		for _, l := range list {
			l.tell("exit 0")
		}
	case "failure":
		list[2].tell("exit 4")
	case "scancel":
		c.must(h, "scancel", list[0].Env["SLURM_JOB_ID"])
	case "scancel of the step":
		c.must(h, "scancel", list[0].Env["SLURM_JOB_ID"]+".0")
	case "launcher killed":
		if err := unix.Kill(list[0].Parent, unix.SIGKILL); err != nil {
			t.Fatal(err)
		}
	}
	h.end(time.Minute, list...)
	j.code()
}
