package ranks

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// readEnv reads a captured environment: one NAME=VALUE per line.
func readEnv(t *testing.T, file string) map[string]string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	env := map[string]string{}
	for line := range strings.Lines(string(text)) {
		if name, value, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "="); ok {
			env[name] = value
		}
	}
	if env["SLURM_JOB_ID"] == "" {
		t.Fatalf("%s is no Slurm environment", file)
	}
	return env
}

// capturedEnvs returns the real environments by file name, for example
// "26.05.3-sbatch-batch".
func capturedEnvs(t *testing.T) map[string]map[string]string {
	t.Helper()
	files, err := filepath.Glob("testdata/slurm-env/*.txt")
	if err != nil || len(files) != 40 {
		t.Fatalf("%d captured environments, %v", len(files), err)
	}
	envs := map[string]map[string]string{}
	for _, file := range files {
		name := strings.TrimSuffix(strings.TrimPrefix(filepath.Base(file), "slurm-env-"), ".txt")
		envs[name] = readEnv(t, file)
	}
	return envs
}

func with(env map[string]string, changes ...string) map[string]string {
	out := maps.Clone(env)
	for i := 0; i < len(changes); i += 2 {
		if changes[i+1] == "unset" {
			delete(out, changes[i])
		} else {
			out[changes[i]] = changes[i+1]
		}
	}
	return out
}

// What is decided for each of the real environments. All are of jobs with two
// nodes: the tasks of a step each take their place, and a launcher that is in none
// is refused with the line to use.
func TestEveryCapturedEnvironment(t *testing.T) {
	for name, env := range capturedEnvs(t) {
		kind := name[strings.Index(name, "-")+1:]
		rank, inStep := 0, false
		var problem, hint string
		switch {
		case strings.HasPrefix(kind, "het-step"):
			problem, hint = "starts 2 launchers on a node", "srun --ntasks-per-node=1"
		case strings.Contains(kind, "-rank"):
			rank, inStep = int(kind[len(kind)-1]-'0'), true
		case kind == "het-batch":
			problem, hint = "has 2 nodes, and this launcher is not in a step of it", "srun --het-group=0-1 --nodes=1 --ntasks=1 --ntasks-per-node=1"
		default: // batch scripts, salloc's shell and its interactive step
			problem, hint = "has 2 nodes, and this launcher is not in a step of it", "srun --nodes=2 --ntasks=2 --ntasks-per-node=1"
		}
		for _, scheduler := range []string{"", "auto", "slurm"} {
			got, err := Resolve(Request{NProc: "4", Scheduler: scheduler, HasRunID: true}, env)
			if !inStep {
				if message := usage(t, err); !strings.Contains(message, problem) || !strings.Contains(message, hint) {
					t.Errorf("%s, --scheduler %q: %s\nwant %q and %q", name, scheduler, message, problem, hint)
				}
				continue
			}
			port := firstPort(env["SLURM_STEP_RESV_PORTS"])
			want := World{
				Nodes: 2, NodeRank: rank, LocalSize: 4, StepPort: port, Scheduler: "slurm", Hosts: []string{"n1", "n2"}, InStep: true,
				Why: []string{
					"4 local ranks from --nproc", "head n1 from SLURM_STEP_NODELIST", "2 nodes from SLURM_STEP_NODELIST",
					fmt.Sprintf("node rank %d of 2 from SLURM_NODEID", rank),
					fmt.Sprintf("master port %d from SLURM_STEP_RESV_PORTS, for attempt 0", port),
				},
			}
			if diff := cmp.Diff(want, got); err != nil || port == 0 || diff != "" {
				t.Errorf("%s, --scheduler %q: %v (-want +got):\n%s", name, scheduler, err, diff)
			}
		}
		got, err := Resolve(Request{NProc: "2", Scheduler: "none"}, env)
		if err != nil || got.Nodes != 1 || got.InStep || got.MasterAddr != "127.0.0.1" {
			t.Errorf("%s with --scheduler none: %+v, %v", name, got, err)
		}
	}
}

// The line in the message is the one to use, with what was typed in it.
func TestTheSrunLineIsComplete(t *testing.T) {
	envs := capturedEnvs(t)
	args := []string{"--nproc", "4", "--", "python", "train.py", "--note", "it's $HOME", ""}
	for _, test := range []struct {
		env  map[string]string
		args []string
		want string
	}{
		{envs["26.05.3-sbatch-batch"], args, `srun --nodes=2 --ntasks=2 --ntasks-per-node=1 --cpus-per-task=8 --kill-on-bad-exit=1 ` +
			`lenslaunch --nproc 4 -- python train.py --note 'it'\''s $HOME' ''`},
		{envs["26.05.3-het-batch"], args[:5], `srun --het-group=0-1 --nodes=1 --ntasks=1 --ntasks-per-node=1 --kill-on-bad-exit=1 lenslaunch --nproc 4 -- python train.py`},
		{with(envs["26.05.3-het-batch"], "SLURM_JOB_NUM_NODES_HET_GROUP_1", "3"), args[3:4],
			`srun --het-group=0 --nodes=1 --ntasks=1 --ntasks-per-node=1 --kill-on-bad-exit=1 lenslaunch python : ` +
				`--het-group=1 --nodes=3 --ntasks=3 --ntasks-per-node=1 --kill-on-bad-exit=1 lenslaunch python`},
		{with(envs["22.05.8-salloc-shell"], "SLURM_JOB_CPUS_PER_NODE", "8,4"), nil,
			`srun --nodes=2 --ntasks=2 --ntasks-per-node=1 --cpus-per-task=4 --kill-on-bad-exit=1 lenslaunch -- COMMAND`},
	} {
		_, err := Resolve(Request{Args: test.args}, test.env)
		if message := usage(t, err); !strings.Contains(message, "start one per node: "+test.want+"; or use --scheduler none to run on this node alone") {
			t.Errorf(" got %s\nwant %s", message, test.want)
		}
	}
}

// And starts this launcher, wherever it lies.
func TestTheSrunLineNamesTheProgram(t *testing.T) {
	_, err := Resolve(Request{Program: func() string { return "/shared/my tools/lenslaunch" }, Args: []string{"--", "true"}}, capturedEnvs(t)["26.05.3-sbatch-batch"])
	if message := usage(t, err); !strings.Contains(message, "--kill-on-bad-exit=1 '/shared/my tools/lenslaunch' -- true; or use") {
		t.Error(message)
	}
}

// Each value that a flag gives beats the step's.
func TestFlagsWinOverSlurm(t *testing.T) {
	envs := capturedEnvs(t)
	req := Request{NNodes: ptr(2), NodeRank: ptr(0), MasterAddr: "n1", MasterPort: 20002, HasRunID: true}
	for name, inStep := range map[string]bool{
		"22.05.8-sbatch-step-rank0": true, "26.05.3-direct-srun-rank1": true,
		"26.05.3-sbatch-batch": false, "22.05.8-salloc-shell": false,
	} {
		got, err := Resolve(req, envs[name])
		if err != nil || got.Nodes != 2 || got.NodeRank != 0 || got.InStep != inStep || got.MasterPort != 20002 || got.StepPort != 0 {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	step := envs["26.05.3-sbatch-step-rank1"]
	got, err := Resolve(Request{NNodes: ptr(2), MasterAddr: "10.0.0.1", HasRunID: true}, step)
	if err != nil || got.NodeRank != 1 || got.MasterAddr != "10.0.0.1" || got.StepPort != 12002 || !slices.Contains(got.Why, "head n1 from SLURM_STEP_NODELIST") {
		t.Errorf("the address alone: %+v, %v", got, err)
	}
	// Three nodes by flags are other nodes than the step's: its head and ports are no help.
	other := Request{NNodes: ptr(3), NodeRank: ptr(2), HasRunID: true}
	_, err = Resolve(other, step)
	if message := usage(t, err); !strings.Contains(message, "--master-addr A (a name of node 0), --master-port P") {
		t.Errorf("other nodes: %s", message)
	}
	other.MasterAddr, other.MasterPort = "h", 1
	if got, err := Resolve(other, step); err != nil || got.Nodes != 3 || got.NodeRank != 2 || !got.InStep || got.Hosts != nil {
		t.Errorf("other nodes: %+v, %v", got, err)
	}
}

// Flags that contradict the step would make several worlds of it.
func TestFlagsThatContradictTheStep(t *testing.T) {
	envs := capturedEnvs(t)
	// One launcher on one node of an allocation is a choice.
	if got, err := Resolve(Request{NNodes: ptr(1)}, envs["26.05.3-sbatch-batch"]); err != nil || got.Nodes != 1 {
		t.Errorf("--nnodes 1 in a batch script: %+v, %v", got, err)
	}
	for _, n := range []int{1, 3} {
		_, err := Resolve(Request{NNodes: ptr(n), HasRunID: true}, envs["26.05.3-sbatch-step-rank0"])
		want := fmt.Sprintf("--nnodes is %d, but Slurm step 2.0 has 2 nodes: leave it out, or start a step of so many nodes: srun --nodes=%d --ntasks-per-node=1", n, n)
		if message := usage(t, err); message != want {
			t.Errorf(" got %s\nwant %s", message, want)
		}
	}
	// And several launchers on a node are refused whatever the flags say.
	req := Request{NNodes: ptr(2), NodeRank: ptr(0), MasterAddr: "n1", MasterPort: 20002, HasRunID: true}
	_, err := Resolve(req, envs["26.05.3-het-step-rank1"])
	usage(t, err)
}

// Nobody restarts a step in place, and the message says what does.
func TestRestartsOfAStepAreRefused(t *testing.T) {
	_, err := Resolve(Request{MaxRestarts: 2, HasRunID: true}, capturedEnvs(t)["26.05.3-sbatch-step-rank0"])
	if message := usage(t, err); !strings.Contains(message, "--max-restarts is 2 with 2 nodes") || !strings.Contains(message, "examples/slurm/train.sbatch") {
		t.Error(message)
	}
}

// Without reserved ports, or with a text that has none, all nodes derive the same.
func TestStepWithoutReservedPorts(t *testing.T) {
	step := capturedEnvs(t)["26.05.3-sbatch-step-rank1"]
	for _, text := range []string{"unset", "", "none", "0", "65536", "-1", ",12002"} {
		got, err := Resolve(Request{HasRunID: true}, with(step, "SLURM_STEP_RESV_PORTS", text))
		if err != nil || got.StepPort != 0 || !slices.Contains(got.Why, "master port derived from the attempt UUID, within --port-range") {
			t.Errorf("%q: %+v, %v", text, got, err)
		}
	}
	for text, want := range map[string]int{"12002": 12002, "12002-12003": 12002, "12001,12005-12007": 12001, "65535": 65535} {
		if got := firstPort(text); got != want {
			t.Errorf("%q: %d", text, got)
		}
	}
}

// An arbitrary distribution, a subset of the allocation and a second step all have
// lists of their own; SLURM_NODELIST, SLURM_PROCID and SLURM_NTASKS are not asked.
func TestStepOfOtherNodesThanTheJob(t *testing.T) {
	env := with(capturedEnvs(t)["26.05.3-sbatch-step-rank1"],
		"SLURM_JOB_NODELIST", "n[1-4]", "SLURM_NODELIST", "n[1-4]", "SLURM_JOB_NUM_NODES", "4", "SLURM_NNODES", "4",
		"SLURM_STEP_ID", "3", "SLURM_STEP_NODELIST", "n[4,2-3]", "SLURM_STEP_NUM_NODES", "3", "SLURM_STEP_TASKS_PER_NODE", "1(x3)",
		"SLURM_NODEID", "2", "SLURM_PROCID", "0", "SLURM_NTASKS", "8", "SLURM_DISTRIBUTION", "arbitrary")
	got, err := Resolve(Request{HasRunID: true}, env)
	if err != nil || got.Nodes != 3 || got.NodeRank != 2 || !slices.Equal(got.Hosts, []string{"n4", "n2", "n3"}) ||
		!slices.Contains(got.Why, "head n4 from SLURM_STEP_NODELIST") {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestNodeIDThatIsNone(t *testing.T) {
	step := capturedEnvs(t)["26.05.3-sbatch-step-rank1"]
	for _, id := range []string{"unset", "", "2", "-1", "x\n"} {
		_, err := Resolve(Request{HasRunID: true}, with(step, "SLURM_NODEID", id))
		if message := usage(t, err); !strings.Contains(message, "SLURM_NODEID is ") || !strings.Contains(message, "among the 2 nodes of Slurm step 2.0") {
			t.Errorf("%q: %s", id, message)
		}
	}
	if got, err := Resolve(Request{}, with(oneNode(step), "SLURM_NODEID", "unset")); err != nil || got.NodeRank != 0 {
		t.Errorf("one node needs no number: %+v, %v", got, err)
	}
}

// oneNode turns a captured environment of two nodes into that of one.
func oneNode(env map[string]string) map[string]string {
	out := maps.Clone(env)
	for name, value := range out {
		value = strings.ReplaceAll(value, "n[1-2]", "n1")
		out[name] = strings.ReplaceAll(value, "(x2)", "")
		if strings.HasSuffix(name, "_NUM_NODES") || name == "SLURM_NNODES" {
			out[name] = "1"
		}
	}
	return out
}

func TestOneNodeOfSlurmRunsLocally(t *testing.T) {
	envs := capturedEnvs(t)
	for name, want := range map[string]struct {
		inStep bool
		why    []string
	}{
		"22.05.8-sbatch-batch":            {false, []string{"1 node from SLURM_JOB_NUM_NODES", "node rank 0 of 1 from default"}},
		"26.05.3-sbatch-batch":            {false, []string{"1 node from SLURM_JOB_NUM_NODES", "node rank 0 of 1 from default"}},
		"26.05.3-array-batch":             {false, []string{"1 node from SLURM_JOB_NUM_NODES", "node rank 0 of 1 from default"}},
		"22.05.8-salloc-interactive-step": {false, []string{"1 node from SLURM_JOB_NUM_NODES", "node rank 0 of 1 from default"}},
		"26.05.3-salloc-interactive-step": {false, []string{"1 node from SLURM_JOB_NUM_NODES", "node rank 0 of 1 from default"}},
		"26.05.3-salloc-shell":            {false, []string{"1 node from SLURM_JOB_NUM_NODES", "node rank 0 of 1 from default"}},
		"22.05.8-sbatch-step-rank0":       {true, []string{"head n1 from SLURM_STEP_NODELIST", "1 node from SLURM_STEP_NODELIST", "node rank 0 of 1 from SLURM_NODEID"}},
		"26.05.3-sbatch-step-rank0":       {true, []string{"head n1 from SLURM_STEP_NODELIST", "1 node from SLURM_STEP_NODELIST", "node rank 0 of 1 from SLURM_NODEID"}},
		"26.05.3-direct-srun-rank0":       {true, []string{"head n1 from SLURM_STEP_NODELIST", "1 node from SLURM_STEP_NODELIST", "node rank 0 of 1 from SLURM_NODEID"}},
		"26.05.3-requeue1-step-rank0":     {true, []string{"head n1 from SLURM_STEP_NODELIST", "1 node from SLURM_STEP_NODELIST", "node rank 0 of 1 from SLURM_NODEID"}},
	} {
		got, err := Resolve(Request{NProc: "2", MaxRestarts: 3}, oneNode(envs[name]))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		whole := World{
			Nodes: 1, LocalSize: 2, MasterAddr: "127.0.0.1", Scheduler: "slurm", InStep: want.inStep,
			Why: append(append([]string{"2 local ranks from --nproc"}, want.why...),
				"master address 127.0.0.1 from default", "master port reserved for each attempt"),
		}
		if want.inStep {
			whole.Hosts = []string{"n1"}
		}
		if diff := cmp.Diff(whole, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// A step of one node inside an allocation of several is complete in itself.
func TestStepOnPartOfTheAllocation(t *testing.T) {
	env := with(capturedEnvs(t)["26.05.3-sbatch-step-rank0"], "SLURM_STEP_NODELIST", "n2",
		"SLURM_STEP_NUM_NODES", "1", "SLURM_STEP_TASKS_PER_NODE", "1", "SLURM_NODEID", "0")
	got, err := Resolve(Request{}, env)
	if err != nil || !got.InStep || got.Nodes != 1 {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestStepThatContradictsItself(t *testing.T) {
	step := oneNode(capturedEnvs(t)["26.05.3-sbatch-step-rank0"])
	for _, test := range []struct {
		env  map[string]string
		want string
	}{
		{with(step, "SLURM_STEP_NODELIST", "n[1-2]"), `SLURM_STEP_NODELIST "n[1-2]" names 2 hosts, but SLURM_STEP_NUM_NODES is 1`},
		{with(step, "SLURM_STEP_NUM_NODES", "3"), `SLURM_STEP_NODELIST "n1" names 1 host, but SLURM_STEP_NUM_NODES is 3`},
		{with(step, "SLURM_STEP_NUM_NODES", "0"), `SLURM_STEP_NODELIST "n1" names 1 host, but SLURM_STEP_NUM_NODES is 0`},
		{with(step, "SLURM_STEP_NODELIST", ","), `SLURM_STEP_NODELIST "," names 0 hosts, but SLURM_STEP_NUM_NODES is 1`},
		{with(step, "SLURM_STEP_NODELIST", ",", "SLURM_STEP_NUM_NODES", "unset"), `SLURM_STEP_NODELIST "," names 0 hosts`},
		{with(step, "SLURM_STEP_NUM_NODES", "one\n"), `SLURM_STEP_NUM_NODES is "one\n", which is no number`},
		{with(step, "SLURM_STEP_NODELIST", "n[1"), `SLURM_STEP_NODELIST: cannot read host list "n[1" at byte 1`},
		{with(step, "SLURM_STEP_TASKS_PER_NODE", "1(x"), `SLURM_STEP_TASKS_PER_NODE: cannot read tasks per node "1(x" at byte 1`},
		{with(step, "SLURM_STEP_TASKS_PER_NODE", "8"), "Slurm step 2.0 starts 8 launchers on a node"},
		{with(step, "SLURM_STEP_TASKS_PER_NODE", "8", "SLURM_JOB_ID", "2\n3"), `Slurm step "2\n3.0" starts 8 launchers on a node`},
	} {
		_, err := Resolve(Request{}, test.env)
		if message := usage(t, err); !strings.Contains(message, test.want) {
			t.Errorf(" got %s\nwant %s", message, test.want)
		}
	}
	// What Slurm does not say is not held against it.
	if got, err := Resolve(Request{}, with(step, "SLURM_STEP_NUM_NODES", "unset", "SLURM_STEP_TASKS_PER_NODE", "unset")); err != nil || !got.InStep {
		t.Errorf("a step that says less: %+v, %v", got, err)
	}
}

// Never decided by SLURM_PROCID or SLURM_NTASKS, and by the id only where it is
// one that the user's steps have.
func TestInRealStep(t *testing.T) {
	for id, want := range map[string]bool{
		"0": true, "7": true, "4294967279": true,
		"": false, "-5": false, "-6": false, "4294967280": false, "4294967290": false, "4294967291": false, "batch": false,
	} {
		env := map[string]string{"SLURM_STEP_ID": id, "SLURM_STEP_NODELIST": "n1", "SLURM_PROCID": "0", "SLURM_NTASKS": "2"}
		if got := inRealStep(env); got != want {
			t.Errorf("step id %q: %v", id, got)
		}
		if inRealStep(with(env, "SLURM_STEP_NODELIST", "unset")) {
			t.Errorf("step id %q without a node list is a step", id)
		}
	}
}

func TestAllocationNodes(t *testing.T) {
	for _, test := range []struct {
		env    map[string]string
		nodes  int
		source string
	}{
		{map[string]string{}, 0, ""},
		{map[string]string{"SLURM_JOB_NUM_NODES": "4", "SLURM_NNODES": "2"}, 4, "SLURM_JOB_NUM_NODES"},
		{map[string]string{"SLURM_JOB_NUM_NODES": "", "SLURM_NNODES": "2"}, 2, "SLURM_NNODES"},
		{map[string]string{"SLURM_JOB_NUM_NODES": "many", "SLURM_JOB_NODELIST": "n[1-3]"}, 3, "SLURM_JOB_NODELIST"},
		{map[string]string{"SLURM_JOB_NODELIST": "n[1-3"}, 0, ""},
		{map[string]string{"SLURM_JOB_NUM_NODES": "1", "SLURM_HET_SIZE": "1"}, 1, "SLURM_JOB_NUM_NODES"},
		{map[string]string{"SLURM_JOB_NUM_NODES": "1", "SLURM_HET_SIZE": "3",
			"SLURM_JOB_NUM_NODES_HET_GROUP_0": "1", "SLURM_JOB_NUM_NODES_HET_GROUP_2": "5"}, 7, "SLURM_HET_SIZE"},
		{map[string]string{"SLURM_HET_SIZE": "9223372036854775807"}, maxHetGroups, "SLURM_HET_SIZE"},
	} {
		nodes, source := allocationNodes(test.env)
		if nodes != test.nodes || source != test.source {
			t.Errorf("%v: %d from %q, want %d from %q", test.env, nodes, source, test.nodes, test.source)
		}
	}
	// A job id set by hand says nothing about nodes: run here.
	if got, err := Resolve(Request{}, map[string]string{"SLURM_JOB_ID": "12345"}); err != nil || got.Nodes != 1 || got.InStep {
		t.Errorf("a bare job id: %+v, %v", got, err)
	}
}

func TestStaleStep(t *testing.T) {
	two := capturedEnvs(t)["26.05.3-sbatch-step-rank0"]
	one := oneNode(two)
	asked := -1
	foreign := func(pid int) bool { asked = pid; return true }

	got, err := Resolve(Request{Foreign: foreign}, one)
	if err != nil || got.InStep || got.Nodes != 1 || asked != 29824 {
		t.Errorf("one node: %+v, %v, asked for pid %d", got, err, asked)
	}
	if want := "Slurm step 2.0 ignored: SLURM_TASK_PID 29824 is not an ancestor"; len(got.Why) < 2 || got.Why[1] != want {
		t.Errorf("why: %q, want %q", got.Why, want)
	}
	_, err = Resolve(Request{Foreign: foreign}, two)
	if message := usage(t, err); !strings.Contains(message, "seem left over") || !strings.Contains(message, "--scheduler none") {
		t.Errorf("two nodes: %s", message)
	}
	if got, err = Resolve(Request{Foreign: foreign, Scheduler: "slurm"}, one); err != nil || !got.InStep {
		t.Errorf("one node, forced: %+v, %v", got, err)
	}
	static := Request{Foreign: foreign, NNodes: ptr(2), NodeRank: ptr(0), MasterAddr: "n1", MasterPort: 1, HasRunID: true}
	if got, err = Resolve(static, two); err != nil || got.InStep || got.Nodes != 2 {
		t.Errorf("two nodes, by flags: %+v, %v", got, err)
	}
	if got, err = Resolve(Request{Foreign: func(int) bool { return false }}, one); err != nil || !got.InStep {
		t.Errorf("our own step: %+v, %v", got, err)
	}
	for _, pid := range []string{"", "x", "0", "-1", "99999999999"} {
		asked = -1
		if got, err = Resolve(Request{Foreign: foreign}, with(one, "SLURM_TASK_PID", pid)); err != nil || !got.InStep || asked != -1 {
			t.Errorf("SLURM_TASK_PID %q: %+v, %v, asked for pid %d", pid, got, err, asked)
		}
	}
}

// What is said of how many nodes is no place among them: still the line to use, if the job
// has so many.
func TestNodesDeclaredOutsideAStep(t *testing.T) {
	env := with(capturedEnvs(t)["22.05.8-sbatch-batch"], "SLURM_JOB_NUM_NODES", "4")
	for n, want := range map[int]string{
		2: "Slurm job 2 has 4 nodes, and this launcher is not in a step of it: start one per node: srun --nodes=2 --ntasks=2 ",
		4: "Slurm job 2 has 4 nodes, and this launcher is not in a step of it: start one per node: srun --nodes=4 --ntasks=4 ",
		5: "--nnodes is 5, but Slurm job 2 has 4 nodes: leave it out, or ",
	} {
		for _, req := range []Request{{NNodes: &n}, {NNodes: &n, MasterAddr: "n1", MasterPort: 1, HasRunID: true}} {
			_, err := Resolve(req, env)
			if message := usage(t, err); !strings.HasPrefix(message, want) {
				t.Errorf("--nnodes %d:\n got %s\nwant %s", n, message, want)
			}
		}
	}
	_, err := Resolve(Request{NNodes: ptr(2)}, oneNode(env))
	if message := usage(t, err); !strings.HasPrefix(message, "--nnodes is 2, but Slurm job 2 has 1 node: ") {
		t.Error(message)
	}
	het := with(capturedEnvs(t)["26.05.3-het-batch"], "SLURM_JOB_NUM_NODES_HET_GROUP_1", "3")
	_, err = Resolve(Request{NNodes: ptr(2)}, het)
	if message := usage(t, err); !strings.HasPrefix(message, "--nnodes is 2, but Slurm job 7 has 4 nodes: ") {
		t.Error(message)
	}
	if got, err := Resolve(Request{NNodes: ptr(1)}, env); err != nil || got.Nodes != 1 {
		t.Errorf("one node on purpose: %+v, %v", got, err)
	}
}

// salloc's shell stays on the login node: its ranks run there, and that is said.
func TestShellOfSallocOnTheLoginNode(t *testing.T) {
	for _, name := range []string{"22.05.8-salloc-shell", "26.05.3-salloc-shell"} {
		env := oneNode(capturedEnvs(t)[name])
		got, err := Resolve(Request{Host: "login1.example", Args: []string{"--", "true"}}, env)
		want := []string{"the ranks run on this host, login1.example, and Slurm job 10 has node n1: to run there use " +
			"srun --nodes=1 --ntasks=1 --ntasks-per-node=1 --kill-on-bad-exit=1 lenslaunch -- true"}
		if diff := cmp.Diff(want, got.Warnings); err != nil || diff != "" || got.Nodes != 1 {
			t.Errorf("%s: %v, %+v (-want +got):\n%s", name, err, got, diff)
		}
		for _, req := range []Request{{Host: "n1"}, {Host: "N1.example"}, {}, {Host: "login1", Scheduler: "none"}, {Host: "login1", NNodes: ptr(1)}} {
			if got, err := Resolve(req, env); err != nil || got.Warnings != nil {
				t.Errorf("%s, %+v: %q, %v", name, req, got.Warnings, err)
			}
		}
	}
	for _, name := range []string{"22.05.8-sbatch-batch", "26.05.3-salloc-interactive-step", "22.05.8-sbatch-step-rank0"} {
		if got, err := Resolve(Request{Host: "other"}, oneNode(capturedEnvs(t)[name])); err != nil || got.Warnings != nil {
			t.Errorf("%s: %q, %v", name, got.Warnings, err)
		}
	}
}
