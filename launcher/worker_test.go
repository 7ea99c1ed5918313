package launcher

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"lenslaunch/carrier"
	"lenslaunch/ranks"
)

// The whole environment contract, rank 3 of 2 nodes with 2 ranks each.
func TestEnvironmentContract(t *testing.T) {
	d := newDraft(t, 2)
	d.Env = map[string]string{"PATH": "/usr/bin", "HOME": "/home/ann"}
	d.World = ranks.World{Nodes: 2, NodeRank: 1, LocalSize: 2, MasterAddr: "head", MasterPort: 29500}
	d.MasterPort = 29500
	d.Role = "actor"
	d.Policy.MaxRestarts = 3
	p := d.plan(t)
	w := worker(t, p, 1, Attempt{Number: 4, UUID: "uuid", RestartCount: new(int64(6)), MasterPort: 29500, ErrorDir: "/tmp/errors"})
	want := map[string]string{
		"PATH": "/usr/bin", "HOME": "/home/ann",
		"RANK": "3", "LOCAL_RANK": "1", "WORLD_SIZE": "4", "LOCAL_WORLD_SIZE": "2",
		"GROUP_RANK": "1", "GROUP_WORLD_SIZE": "2",
		"ROLE_RANK": "3", "ROLE_WORLD_SIZE": "4", "ROLE_NAME": "actor",
		"MASTER_ADDR": "head", "MASTER_PORT": "29500",
		"TORCHELASTIC_RESTART_COUNT": "4", "TORCHELASTIC_MAX_RESTARTS": "3", "TORCHELASTIC_RUN_ID": "run-7",
		"TORCHELASTIC_USE_AGENT_STORE": "False", "TORCHELASTIC_ERROR_FILE": "/tmp/errors/rank-3.json",
		"TORCH_NCCL_ASYNC_ERROR_HANDLING": "1", "PYTHONUNBUFFERED": "1", "OMP_NUM_THREADS": "4",
		"NEMO_LENS_RUN_ID": "run-7", "LENSLAUNCH_ATTEMPT": "4",
		"OTEL_RESOURCE_ATTRIBUTES": strings.Join([]string{
			"host.name=node-a", "nv.dl.role=actor", "nemo.run.id=run-7", "nv.dl.job.uuid=" + derived("nemo.lens.job/local/run-7"),
			"nv.dl.rank=3", "nv.dl.world_size=4", "nv.dl.local_rank=1", "nv.dl.run.uuid=uuid", "slurm.restart_count=6",
			"service.instance.id=run-7-rank3", "lenslaunch.attempt=4",
		}, ","),
	}
	if diff := cmp.Diff(sorted(want), sorted(environment(p, w))); diff != "" {
		t.Errorf("environment (-want +got):\n%s", diff)
	}
	// The process gets the same, in the form that exec takes.
	base := []string{"PATH=/usr/bin", "HOME=/home/ann", carrier.Variable + "=" + want[carrier.Variable]}
	got := w.environ(base)
	slices.Sort(got)
	if diff := cmp.Diff(sorted(want), got); diff != "" {
		t.Errorf("environ (-want +got):\n%s", diff)
	}
}

func sorted(env map[string]string) []string {
	var list []string
	for key, text := range env {
		list = append(list, key+"="+text)
	}
	slices.Sort(list)
	return list
}

// What is not decided yet is not invented: `lenslaunch env` shows no port and no
// error file.
func TestUndecidedVariablesAreAbsent(t *testing.T) {
	p := newDraft(t, 1).with("MASTER_PORT=1", "TORCHELASTIC_ERROR_FILE=/outer").plan(t)
	env := environment(p, worker(t, p, 0, Attempt{}))
	for _, key := range []string{"MASTER_PORT", "TORCHELASTIC_ERROR_FILE"} {
		if text, set := env[key]; set {
			t.Errorf("%s=%s", key, text)
		}
	}
}

// Everything that an outer launcher said of its own worker is replaced or removed;
// what belongs to somebody else passes untouched.
func TestStaleVariablesOfAnOuterLauncher(t *testing.T) {
	d := newDraft(t, 1)
	for _, key := range ownedVariables() {
		d.with(key + "=stale")
	}
	d.with(carrier.Variable+"=nv.dl.rank=stale,nv.dl.run.uuid=stale,service.instance.id=stale,lenslaunch.attempt=stale",
		"TRACEPARENT=00-trace", "MASTER_OF_NOTHING=mine", "LENSLAUNCH_NPROC=2")
	p := d.plan(t)
	env := environment(p, worker(t, p, 0, p.number(countedAs(0))))
	for key, text := range env {
		if strings.Contains(text, "stale") {
			t.Errorf("%s=%s", key, text)
		}
	}
	for _, key := range []string{"LENSLAUNCH_RUN_DIR", "LENSLAUNCH_SPAN_JOURNAL", "LENSLAUNCH_HEARTBEAT_FILE"} {
		if _, set := env[key]; set {
			t.Errorf("%s is set although its feature is off", key)
		}
	}
	for key, want := range map[string]string{"TRACEPARENT": "00-trace", "MASTER_OF_NOTHING": "mine", "LENSLAUNCH_NPROC": "2"} {
		if env[key] != want {
			t.Errorf("%s=%q, want %q", key, env[key], want)
		}
	}
}

// A value that the user chose is never replaced, not even an empty one.
func TestChosenValuesStay(t *testing.T) {
	for _, key := range []string{
		"OMP_NUM_THREADS", "PYTHONUNBUFFERED", "TORCH_NCCL_ASYNC_ERROR_HANDLING",
		"CUDA_VISIBLE_DEVICES", "NCCL_SOCKET_IFNAME", "NCCL_DEBUG",
	} {
		for _, chosen := range []string{"7", "", "a,b"} {
			p := newDraft(t, 2).with(key + "=" + chosen).plan(t)
			if got, set := environment(p, worker(t, p, 1, Attempt{}))[key]; !set || got != chosen {
				t.Errorf("%s: %q became %q (set: %v)", key, chosen, got, set)
			}
		}
		p := newDraft(t, 2)
		p.SetEnv = []EnvVar{{key, "flag"}}
		if got := environment(p.plan(t), worker(t, p.plan(t), 1, Attempt{}))[key]; got != "flag" {
			t.Errorf("--env %s=flag gave %q", key, got)
		}
	}
}

// torchrun's rule of one thread wastes a node (pytorch#22260).
func TestOMPThreads(t *testing.T) {
	for _, tt := range []struct{ cpus, ranks, want int }{
		{8, 1, 8}, {8, 2, 4}, {8, 3, 2}, {8, 8, 1}, {8, 9, 1}, {1, 64, 1}, {0, 1, 1}, {128, 8, 16},
	} {
		d := newDraft(t, tt.ranks)
		d.Facts.CPUs = tt.cpus
		if got := worker(t, d.plan(t), tt.ranks-1, Attempt{}).Set["OMP_NUM_THREADS"]; got != itoa(tt.want) {
			t.Errorf("%d CPUs for %d ranks: %s threads, want %d", tt.cpus, tt.ranks, got, tt.want)
		}
	}
}

func TestEnvFlagPlaceholders(t *testing.T) {
	d := newDraft(t, 2)
	d.World.NodeRank, d.World.Nodes, d.World.MasterPort, d.MasterPort = 3, 4, 29500, 29500
	d.SetEnv = []EnvVar{
		{"CACHE", "/cache/%i/%n/%l/%r-%a"}, {"RATE", "100%"}, {"LITERAL", "%%r"}, {"TWICE", "first"}, {"TWICE", "second"},
	}
	d.Command[0] = "/bin/sh"
	p := d.plan(t)
	w := worker(t, p, 1, Attempt{Number: 2})
	for key, want := range map[string]string{
		"CACHE": "/cache/run-7/3/1/7-2", "RATE": "100%", "LITERAL": "%r", "TWICE": "second",
	} {
		if w.Set[key] != want {
			t.Errorf("%s=%q, want %q", key, w.Set[key], want)
		}
	}
	// COMMAND is the user's own: nothing in it is replaced.
	d.Command = []string{"/bin/sh", "-c", "echo %r %i"}
	if diff := cmp.Diff([]string{"/bin/sh", "-c", "echo %r %i"}, d.plan(t).Command); diff != "" {
		t.Errorf("command:\n%s", diff)
	}
}

func TestDirectoryPlaceholders(t *testing.T) {
	p := newDraft(t, 3).plan(t)
	p.Dir = "/data/%i/attempt-%a/rank-%r"
	if got := worker(t, p, 2, Attempt{Number: 5}).Dir; got != "/data/run-7/attempt-5/rank-2" {
		t.Errorf("directory %q", got)
	}
}

func TestUnsetEnv(t *testing.T) {
	d := newDraft(t, 1).with("SECRET=x", "KEPT=y", "OMP_NUM_THREADS=3")
	d.UnsetEnv = []string{"SECRET", "PYTHONUNBUFFERED", "OMP_NUM_THREADS", "NEVER_SET"}
	p := d.plan(t)
	env := environment(p, worker(t, p, 0, Attempt{}))
	for _, key := range d.UnsetEnv {
		if text, set := env[key]; set {
			t.Errorf("%s=%q", key, text)
		}
	}
	if env["KEPT"] != "y" {
		t.Errorf("KEPT=%q", env["KEPT"])
	}
}

// A worker's environment keeps the order of the launcher's, has each name once, and
// ends with what the launcher sets.
func TestEnvironOrder(t *testing.T) {
	w := Worker{Set: map[string]string{"RANK": "1", "B": "new", "A": "first"}, Unset: []string{"GONE"}}
	base := []string{"Z=1", "B=old", "GONE=x", "EMPTY=", "ODD", "C=a=b", "RANK=9"}
	want := []string{"Z=1", "EMPTY=", "ODD", "C=a=b", "A=first", "B=new", "RANK=1"}
	if diff := cmp.Diff(want, w.environ(base)); diff != "" {
		t.Errorf("environ (-want +got):\n%s", diff)
	}
	if got := w.environ(nil); len(got) != 3 {
		t.Errorf("from an empty environment: %q", got)
	}
}

// Every variable that the launcher sets over an inherited value is one that the
// command line refuses in --env, and the other way round.
func TestOwnedVariables(t *testing.T) {
	w := worker(t, newDraft(t, 1).plan(t), 0, Attempt{MasterPort: 1, ErrorDir: "/x"})
	free := []string{"OMP_NUM_THREADS", "PYTHONUNBUFFERED", "TORCH_NCCL_ASYNC_ERROR_HANDLING"}
	for key := range w.Set {
		if owned := OwnsVariable(key); owned == slices.Contains(free, key) {
			t.Errorf("OwnsVariable(%s) = %v", key, owned)
		}
	}
	for _, key := range append(free, "", "PATH", "rank", "RANK ", "CUDA_VISIBLE_DEVICES", "TRACEPARENT") {
		if OwnsVariable(key) {
			t.Errorf("OwnsVariable(%q)", key)
		}
	}
	if missing := slices.Collect(maps.Keys(w.Set)); len(missing) < 20 {
		t.Errorf("only %d variables are set", len(missing))
	}
}

// Text without placeholders, and escaped text, come out as they were meant.
func FuzzPlaceholders(f *testing.F) {
	f.Add("%r/%%/%")
	f.Add("/data/%i")
	f.Fuzz(func(t *testing.T, text string) {
		p := place{rank: 1, local: 2, node: 3, attempt: "4", runID: "id"}
		if got := p.expand(strings.ReplaceAll(text, "%", "%%")); got != text {
			t.Errorf("escaped %q became %q", text, got)
		}
		if got := p.expand(text); !strings.Contains(text, "%") && got != text {
			t.Errorf("%q became %q", text, got)
		}
	})
}
