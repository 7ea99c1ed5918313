//go:build slurm && linux

package slurm

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// requeue puts a job back, and lets it start as soon as its old credential is void.
func (c *cluster) requeue(h *hub, id string, list []*life) {
	h.t.Helper()
	c.must(h, "scontrol", "requeue", id)
	h.end(patience, list...)
}

// scontrol requeue: the restart count of the ranks' carriers goes from 0 to 1 to 2, each
// execution has an attempt of its own, and all ranks of both nodes the same.
func TestRequeue(t *testing.T) {
	t.Parallel()
	c, h := sharedCluster(t), newHub(t)
	c.clean(h)
	id := c.batch(h, c.folder(t), []string{"--nodes=2", "--ntasks-per-node=1", "--requeue"}, "exec srun --kill-on-bad-exit=1 lenslaunch --nproc 4 -- rank\n")
	uuids, jobs := map[string]bool{}, map[string]bool{}
	for count := range 3 {
		list := h.ranks(8)
		uuids[agree(t, list, 4)] = true
		jobs[carrierOf(list[0])["nv.dl.job.uuid"]] = true
		if got := carrierOf(list[7])["slurm.restart_count"]; got != strconv.Itoa(count) {
			t.Errorf("restart count %q, want %d", got, count)
		}
		if count < 2 {
			c.requeue(h, id, list)
			continue
		}
		for _, l := range list {
			l.tell("exit 0")
		}
		h.end(soon, list...)
	}
	if len(uuids) != 3 || len(jobs) != 1 {
		t.Errorf("attempts %v, jobs %v", uuids, jobs)
	}
	c.wait(h, id)
	if state := c.state(h, id); state != "COMPLETED" {
		t.Errorf("state %s", state)
	}
}

// examples/slurm/train.sbatch, from a failure and a save request with its requeue to
// COMPLETED; the count only grows, and no two attempts share a UUID.
func TestTrainLoop(t *testing.T) {
	t.Parallel()
	c, h := sharedCluster(t), newHub(t)
	c.clean(h)
	dir := c.folder(t)
	id := c.submit(h, dir, []string{"LENSLAUNCH_FLAGS=--nproc=2", "LEAST=0", modeVariable + "=save"}, c.home("train.sbatch"), "rank")
	uuids := map[string]bool{}
	attempt := func(count string) []*life {
		list := h.ranks(4)
		uuids[agree(t, list, 2)] = true
		if got := carrierOf(list[0])["slurm.restart_count"]; got != count {
			t.Errorf("restart count %q, want %s", got, count)
		}
		return list
	}
	list := attempt("0")
	list[1].tell("exit 3") // a failure: a new step
	h.end(soon, list...)
	list = attempt("1")
	c.must(h, "scancel", "--signal=USR1", id) // saved: a requeue
	h.end(soon, list...)
	list = attempt("2") // Slurm's own count is 1: the loop carries its own over
	list[0].tell("exit 3")
	h.end(soon, list...)
	list = attempt("3")
	for _, l := range list {
		l.tell("exit 0")
	}
	c.wait(h, id)
	if state := c.state(h, id); state != "COMPLETED" || len(uuids) != 4 {
		t.Errorf("state %s, attempts %v", state, uuids)
	}
	names, err := filepath.Glob(filepath.Join(dir, "runs", id, "attempt-*"))
	if err != nil || len(names) != 4 {
		t.Errorf("%v: %q", err, names)
	}
}

// A save request to an execution that has just begun, as Slurm sends one where the time limit
// is below the notice, does not go round by requeues: a new step goes on. The nodes have not
// the same number of CPUs.
func TestTrainLoopThatHasJustBegun(t *testing.T) {
	t.Parallel()
	c, h := sharedCluster(t), newHub(t)
	c.clean(h)
	env := []string{"LENSLAUNCH_FLAGS=--nproc=1", modeVariable + "=save"}
	id := c.submit(h, c.folder(t), env, "--nodes=2", "--ntasks=3", "--ntasks-per-node=2", "--distribution=block", c.home("train.sbatch"), "rank")
	list := h.ranks(2)
	c.must(h, "scancel", "--signal=USR1", id)
	h.end(soon, list...)
	list = h.ranks(2)
	agree(t, list, 1)
	if got := carrierOf(list[1])["slurm.restart_count"]; got != "1" {
		t.Errorf("restart count %q", got)
	}
	if text := c.must(h, "scontrol", "show", "job", id); !strings.Contains(text, "Restarts=0") {
		t.Error(text)
	}
	for _, l := range list {
		l.tell("exit 0")
	}
	c.wait(h, id)
	if state := c.state(h, id); state != "COMPLETED" {
		t.Errorf("state %s", state)
	}
}

// A code that no restart mends ends the loop at once.
func TestTrainLoopStopsOnFatalCodes(t *testing.T) {
	t.Parallel()
	c, h := sharedCluster(t), newHub(t)
	c.clean(h)
	dir := c.folder(t)
	id := c.submit(h, dir, []string{"LENSLAUNCH_FLAGS=--nproc=1"}, c.home("train.sbatch"), "rank")
	list := h.ranks(2)
	list[0].tell("exit 78")
	h.end(soon, list...)
	c.wait(h, id)
	if got := c.must(h, "scontrol", "show", "job", id); !strings.Contains(got, "ExitCode=78:0") {
		t.Error(got)
	}
}

// An array of one-node jobs whose launchers restart in place.
func TestArrayExample(t *testing.T) {
	t.Parallel()
	c, h := sharedCluster(t), newHub(t)
	c.clean(h)
	id := c.submit(h, c.folder(t), []string{"LENSLAUNCH_FLAGS=--restart-delay=1ms"}, "--array=4", c.home("array.sbatch"), "sh", "-c", "exec rank")
	list := h.ranks(1)
	list[0].tell("exit 5")
	again := h.ranks(1)
	if a, b := carrierOf(list[0]), carrierOf(again[0]); a["slurm.array.task_id"] != "4" || b["slurm.restart_count"] != "1" || a["nv.dl.run.uuid"] == b["nv.dl.run.uuid"] {
		t.Errorf("%v\n%v", a, b)
	}
	again[0].tell("exit 0")
	c.wait(h, id)
}

// The batch script itself is no step: it is refused with the line to use, and that line
// is right as it stands.
func TestBatchWithoutAStep(t *testing.T) {
	t.Parallel()
	c, h := sharedCluster(t), newHub(t)
	c.clean(h)
	dir := c.folder(t)
	// Eight tasks were asked for: the line must not start eight launchers.
	c.batch(h, dir, []string{"--nodes=2", "--ntasks=8"}, `lenslaunch --nproc 2 -- rank 2>err
rank code $?
line=$(sed -n 's/.*start one per node: \(srun .*\); or use .*/\1/p' err)
eval "$line"
rank step $?
`)
	h.note("code 2")
	list := h.ranks(4)
	agree(t, list, 2)
	for _, l := range list {
		l.tell("exit 0")
	}
	h.note("step 0")
	text, err := os.ReadFile(filepath.Join(dir, "err"))
	if err != nil || !strings.Contains(string(text), "has 2 nodes, and this launcher is not in a step of it: start one per node: srun --nodes=2 --ntasks=2 --ntasks-per-node=1") {
		t.Errorf("%v: %s", err, text)
	}
}

// Eight launchers on a node instead of one are refused with the fix.
func TestSeveralLaunchersOnANode(t *testing.T) {
	t.Parallel()
	c, h := sharedCluster(t), newHub(t)
	c.clean(h)
	j := c.start(h, nil, "srun", "--quiet", "--nodes=2", "--ntasks=4", "--ntasks-per-node=2", c.home("lenslaunch"), "--", c.home("rank"))
	if code := j.code(); code != 2 || !strings.Contains(j.out.String(), "starts 2 launchers on a node") || !strings.Contains(j.out.String(), "--ntasks-per-node=1") {
		t.Errorf("exit code %d:\n%s", code, j.out.String())
	}
}

// A job that is submitted in the shell of a step inherits that step's variables. Its batch
// script is no step all the same, also on the node of that shell.
func TestBatchSubmittedInAStep(t *testing.T) {
	t.Parallel()
	c, h := sharedCluster(t), newHub(t)
	c.clean(h)
	dir := c.folder(t)
	if err := os.WriteFile(filepath.Join(dir, "script.sh"), []byte("#!/bin/sh\nlenslaunch --nproc 2 -- rank 2>err\nrank code $?\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	// The shell's own job ends with the submission: the new one may get any nodes.
	j := c.start(h, nil, "srun", "--quiet", "--nodes=1", "--ntasks=1", "sbatch", "--parsable", "--nodes=2", "--chdir="+dir, "--output="+dir+"/out", dir+"/script.sh")
	if code := j.code(); code != 0 {
		t.Fatalf("exit code %d", code)
	}
	h.note("code 2")
	c.wait(h, strings.TrimSpace(j.out.String()))
	text, err := os.ReadFile(filepath.Join(dir, "err"))
	if err != nil || !strings.Contains(string(text), "is left over, ") || !strings.Contains(string(text), "start one per node: srun --nodes=2 --ntasks=2") {
		t.Errorf("%v: %s", err, text)
	}
}
