//go:build slurm && linux

package slurm

import (
	"os"
	"strconv"
	"strings"
	"testing"

	"lenslaunch/test/harness"
)

// steps is srun of one launcher on each of two nodes, and the launcher.
func (c *cluster) step(flags ...string) []string {
	words := []string{"srun", "--quiet", "--nodes=2", "--nodelist=n[1-2]", "--ntasks=2", "--ntasks-per-node=1", "--job-name=train"}
	return append(append(words, flags...), c.home("lenslaunch"))
}

// agree checks that ranks stand in one world, in order, and returns their attempt UUID.
func agree(t *testing.T, list []*life, local int) string {
	t.Helper()
	first := list[0].Env
	for i, l := range list {
		for key, want := range map[string]string{
			"RANK": strconv.Itoa(i), "LOCAL_RANK": strconv.Itoa(i % local), "WORLD_SIZE": strconv.Itoa(len(list)),
			"LOCAL_WORLD_SIZE": strconv.Itoa(local), "GROUP_RANK": strconv.Itoa(i / local),
			"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": first["MASTER_PORT"],
			"TORCHELASTIC_RUN_ID": first["TORCHELASTIC_RUN_ID"], "LENSLAUNCH_ATTEMPT": "0",
		} {
			if l.Env[key] != want {
				t.Errorf("rank %d: %s is %q, want %q", i, key, l.Env[key], want)
			}
		}
		for _, key := range []string{"nv.dl.run.uuid", "nv.dl.job.uuid", "slurm.restart_count"} {
			if got, want := carrierOf(l)[key], carrierOf(list[0])[key]; got != want || got == "" {
				t.Errorf("rank %d: %s is %q, want %q", i, key, got, want)
			}
		}
	}
	return carrierOf(list[0])["nv.dl.run.uuid"]
}

// Two nodes of four ranks train with gloo, as a job of an unprivileged user.
func TestGloo(t *testing.T) {
	t.Parallel()
	c, h := sharedCluster(t), newHub(t)
	c.clean(h)
	results := c.folder(t)
	python := os.Getenv(pythonVariable)
	j := c.start(h, []string{"RESULT_DIR=" + results}, append(c.step("--kill-on-bad-exit=1"), "--nproc", "4", "--output", "plain", "--", python, c.home("gloo.py"))...)
	if code := j.code(); code != 0 {
		t.Fatalf("exit code %d", code)
	}
	type record struct {
		Rank  int
		World int
		Total float64
	}
	found := harness.Records[record](t, results)
	if len(found) != 8 {
		t.Fatalf("%d ranks left a result", len(found))
	}
	for _, r := range found {
		if r.World != 8 || r.Total != 36 {
			t.Errorf("%+v", r)
		}
	}
}

// A subset step has a head and places of its own.
func TestSubsetStep(t *testing.T) {
	t.Parallel()
	c, h := sharedCluster(t), newHub(t)
	c.clean(h)
	j := c.start(h, nil, "salloc", "--quiet", "--nodes=3", "--ntasks-per-node=1", "srun", "--quiet", "--nodes=2", "--ntasks=2", "--nodelist=n[2-3]",
		c.home("lenslaunch"), "--nproc", "2", "--", c.home("rank"))
	list := h.ranks(4)
	agree(t, list, 2)
	for i, l := range list {
		if want := []string{"n2", "n2", "n3", "n3"}[i]; l.Env["SLURMD_NODENAME"] != want {
			t.Errorf("rank %d is on %s, want %s", i, l.Env["SLURMD_NODENAME"], want)
		}
		l.tell("exit 0")
	}
	if code := j.code(); code != 0 {
		t.Errorf("exit code %d", code)
	}
}

// A list in another order than Slurm's own: ranks follow SLURM_NODEID, not names.
func TestArbitraryDistribution(t *testing.T) {
	t.Parallel()
	c, h := sharedCluster(t), newHub(t)
	c.clean(h)
	hosts := c.folder(t) + "/hosts"
	if err := os.WriteFile(hosts, []byte("n2\nn1\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	j := c.start(h, []string{"SLURM_HOSTFILE=" + hosts}, "srun", "--quiet", "--nodes=2", "--ntasks=2", "--distribution=arbitrary",
		c.home("lenslaunch"), "--nproc", "2", "--", c.home("rank"))
	list := h.ranks(4)
	agree(t, list, 2)
	for i, l := range list {
		if l.Env["SLURM_NODEID"] != l.Env["GROUP_RANK"] {
			t.Errorf("rank %d: node %s has group rank %s", i, l.Env["SLURM_NODEID"], l.Env["GROUP_RANK"])
		}
		l.tell("exit 0")
	}
	if code := j.code(); code != 0 {
		t.Errorf("exit code %d", code)
	}
}

// Two steps of one allocation at once are two attempts, with a port each.
func TestTwoStepsAtOnce(t *testing.T) {
	t.Parallel()
	c, h := sharedCluster(t), newHub(t)
	c.clean(h)
	step := "srun --quiet --overlap --nodes=2 --ntasks=2 lenslaunch --nproc 1 -- rank"
	j := c.start(h, nil, "salloc", "--quiet", "--nodes=2", "--ntasks-per-node=1", "sh", "-c", step+" & "+step+" & wait")
	bySteps := map[string][]*life{}
	for _, l := range h.ranks(4) {
		bySteps[l.Env["SLURM_STEP_ID"]] = append(bySteps[l.Env["SLURM_STEP_ID"]], l)
	}
	uuids, ports := map[string]bool{}, map[string]bool{}
	for _, list := range bySteps {
		uuids[agree(t, list, 1)] = true
		ports[list[0].Env["MASTER_PORT"]] = true
		for _, l := range list {
			l.tell("exit 0")
		}
	}
	if len(bySteps) != 2 || len(uuids) != 2 || len(ports) != 2 {
		t.Errorf("%d steps, attempts %v, ports %v", len(bySteps), uuids, ports)
	}
	if code := j.code(); code != 0 {
		t.Errorf("exit code %d", code)
	}
}

// Elements of an array are one effort and attempts of their own.
func TestArray(t *testing.T) {
	t.Parallel()
	c, h := sharedCluster(t), newHub(t)
	c.clean(h)
	id := c.batch(h, c.folder(t), []string{"--nodes=2", "--ntasks-per-node=1", "--array=3,9"}, "exec srun --kill-on-bad-exit=1 lenslaunch --nproc 1 -- rank\n")
	elements := map[string][]*life{}
	for _, l := range h.ranks(4) {
		elements[l.Env["SLURM_ARRAY_TASK_ID"]] = append(elements[l.Env["SLURM_ARRAY_TASK_ID"]], l)
	}
	uuids, jobs := map[string]bool{}, map[string]bool{}
	for task, list := range elements {
		uuids[agree(t, list, 1)] = true
		jobs[carrierOf(list[0])["nv.dl.job.uuid"]] = true
		if got := carrierOf(list[0])["slurm.job.id"]; got != id+"_"+task {
			t.Errorf("element %s is %q", task, got)
		}
		for _, l := range list {
			l.tell("exit 0")
		}
	}
	if len(elements) != 2 || len(uuids) != 2 || len(jobs) != 1 {
		t.Errorf("elements %d, attempts %v, jobs %v", len(elements), uuids, jobs)
	}
}

// A heterogeneous job: its batch script is refused, and the line of the message starts
// one launcher on each node of all components, also where these differ in size.
func TestHeterogeneousJob(t *testing.T) {
	t.Parallel()
	for name, second := range map[string][]string{"alike": {"--nodes=1", "--ntasks=2"}, "different": {"--nodes=2", "--ntasks=4"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, h := sharedCluster(t), newHub(t)
			c.clean(h)
			flags := append([]string{"--nodes=1", "--ntasks=1", ":"}, second...)
			c.batch(h, c.folder(t), flags, `lenslaunch --nproc 2 -- rank 2>err
rank code $?
line=$(sed -n 's/.*start one per node: \(srun .*\); or use .*/\1/p' err)
eval "$line"
rank step $?
`)
			h.note("code 2")
			list := h.ranks(map[string]int{"alike": 4, "different": 6}[name])
			agree(t, list, 2)
			for _, l := range list {
				l.tell("exit 0")
			}
			h.note("step 0")
		})
	}
}

// A step that is attached to a running job is one of its own. (Slurm 22.05 does not tell
// it the cluster's name, so its job UUID is another one.)
func TestAttachedStep(t *testing.T) {
	t.Parallel()
	c, h := sharedCluster(t), newHub(t)
	c.clean(h)
	j := c.start(h, nil, append(c.step(), "--nproc", "1", "--", c.home("rank"))...)
	list := h.ranks(2)
	attached := c.start(h, nil, "srun", "--quiet", "--overlap", "--jobid="+list[0].Env["SLURM_JOB_ID"], "--nodes=1", "--ntasks=1",
		c.home("lenslaunch"), "--nproc", "1", "--", c.home("rank"))
	other := h.ranks(1)
	uuid := agree(t, list, 1)
	if got := carrierOf(other[0]); got["nv.dl.run.uuid"] == uuid || got["slurm.job.id"] != carrierOf(list[0])["slurm.job.id"] {
		t.Errorf("%v\n%v", got, carrierOf(list[0]))
	}
	if got := other[0].Env; got["WORLD_SIZE"] != "1" || got["SLURM_STEP_ID"] == "0" {
		t.Errorf("world of %s in step %s", got["WORLD_SIZE"], got["SLURM_STEP_ID"])
	}
	for _, l := range append(list, other...) {
		l.tell("exit 0")
	}
	if a, b := j.code(), attached.code(); a != 0 || b != 0 {
		t.Errorf("exit codes %d and %d", a, b)
	}
}

// Attached in a shell of another job, whose list of nodes it inherits.
func TestAttachedStepInAShellOfAnotherJob(t *testing.T) {
	t.Parallel()
	c, h := sharedCluster(t), newHub(t)
	c.clean(h)
	j := c.start(h, nil, append(c.step(), "--nproc", "1", "--", c.home("rank"))...)
	list := h.ranks(2)
	inner := "exec srun --quiet --overlap --jobid=" + list[0].Env["SLURM_JOB_ID"] + " --nodes=1 --ntasks=1 --nodelist=n2 lenslaunch env --nproc 1"
	other := c.start(h, nil, "srun", "--quiet", "--nodes=1", "--ntasks=1", "--nodelist=n3", "sh", "-c", inner)
	if code := other.code(); code != 0 || !strings.Contains(other.out.String(), "1 node from SLURM_STEP_NODELIST") {
		t.Errorf("exit code %d:\n%s", code, other.out.String())
	}
	for _, l := range list {
		l.tell("exit 0")
	}
	if code := j.code(); code != 0 {
		t.Errorf("exit code %d", code)
	}
}
