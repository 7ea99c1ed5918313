package ranks

import (
	"slices"
	"strings"
	"testing"
)

// submittedInAStep is a batch script of Slurm 22.05 whose job of two nodes was submitted
// from a shell in a step on node n9, as the real one has it.
func submittedInAStep(t *testing.T, more ...string) map[string]string {
	env := with(capturedEnvs(t)["22.05.8-sbatch-batch"], "SLURM_STEP_ID", "0", "SLURM_STEPID", "0", "SLURM_STEP_NODELIST", "n9",
		"SLURM_STEP_NUM_NODES", "1", "SLURM_STEP_NUM_TASKS", "1", "SLURM_STEP_TASKS_PER_NODE", "1", "SLURM_STEP_RESV_PORTS", "41101-41102")
	return with(env, more...)
}

func above(name string) func() string { return func() string { return name } }

// The variables of the shell that submitted a job do not make its batch script a step.
func TestVariablesOfTheShellThatSubmitted(t *testing.T) {
	env := submittedInAStep(t)
	same := with(env, "SLURM_STEP_NODELIST", "n1") // on a node that the new job has, too
	for _, test := range []struct {
		what string
		env  map[string]string
		name string
		left string
	}{
		{"another node", env, "", "SLURM_STEP_NODELIST is left over, n9 is no node of the job"},
		{"a batch script", same, "2.batch", "SLURM_STEP_ID 0 is left over, this is 2.batch"},
		{"an interactive step", same, "2.interactive", "this is 2.interactive"},
		{"salloc in a step", same, "1.0", "this is 1.0"},
		{"larger than the job", with(env, "SLURM_STEP_NODELIST", "n[7-9]", "SLURM_STEP_NUM_NODES", "3", "SLURM_STEP_TASKS_PER_NODE", "1(x3)"), "", "n7 is no node of the job"},
		{"many tasks", with(same, "SLURM_STEP_TASKS_PER_NODE", "8"), "2.batch", "this is 2.batch"},
		{"a list that is none", with(same, "SLURM_STEP_NODELIST", "n["), "2.batch", "this is 2.batch"},
	} {
		_, err := Resolve(Request{StepAbove: above(test.name)}, test.env)
		message := usage(t, err)
		for _, want := range []string{"Slurm job 2 has 2 nodes, and this launcher is not in a step of it (", test.left, "srun --nodes=2", "--scheduler slurm"} {
			if !strings.Contains(message, want) {
				t.Errorf("%s: %s\nlacks %s", test.what, message, want)
			}
		}
		one := with(test.env, "SLURM_JOB_NUM_NODES", "1", "SLURM_JOB_NODELIST", "n1")
		got, err := Resolve(Request{StepAbove: above(test.name)}, one)
		if err != nil || got.InStep || got.Hosts != nil || got.Nodes != 1 || !slices.ContainsFunc(got.Why, func(why string) bool { return strings.Contains(why, test.left) }) {
			t.Errorf("%s, a job of one node: %+v, %v", test.what, got, err)
		}
	}
}

// A step is one whatever else is said, and by force.
func TestStepsThatAreBelieved(t *testing.T) {
	for name, env := range capturedEnvs(t) {
		if !strings.Contains(name, "-rank") || strings.Contains(name, "het") {
			continue
		}
		for _, title := range []string{"", env["SLURM_JOB_ID"] + "." + env["SLURM_STEP_ID"], "sluid.0", "7", "."} {
			if got, err := Resolve(Request{HasRunID: true, StepAbove: above(title)}, env); err != nil || !got.InStep {
				t.Errorf("%s below %q: %+v, %v", name, title, got, err)
			}
		}
		nodes := with(env, "SLURM_JOB_NODELIST", "unset")
		if got, err := Resolve(Request{HasRunID: true}, nodes); err != nil || !got.InStep {
			t.Errorf("%s without the job's nodes: %+v, %v", name, got, err)
		}
	}
	got, err := Resolve(Request{Scheduler: "slurm", StepAbove: above("2.batch")}, submittedInAStep(t))
	if err != nil || !got.InStep {
		t.Errorf("by force: %+v, %v", got, err)
	}
	// srun --jobid in a shell of another job: its nodes are left over, and the step is real.
	attached := with(capturedEnvs(t)["22.05.8-sbatch-step-rank1"], "SLURM_JOB_NODELIST", "n9", "SLURM_JOB_NUM_NODES", "1")
	if got, err := Resolve(Request{HasRunID: true, StepAbove: above("2.0")}, attached); err != nil || !got.InStep || got.Nodes != 2 || got.NodeRank != 1 {
		t.Errorf("attached: %+v, %v", got, err)
	}
	if got, err := Resolve(Request{HasRunID: true, Scheduler: "slurm"}, attached); err != nil || !got.InStep {
		t.Errorf("attached, in a container, by force: %+v, %v", got, err)
	}
	// Components of one job have numbers and nodes of their own.
	het := with(capturedEnvs(t)["26.05.3-het-step-rank1"], "SLURM_STEP_TASKS_PER_NODE", "1(x2)", "SLURM_JOB_NODELIST", "n1")
	if got, err := Resolve(Request{HasRunID: true, StepAbove: above("8.0")}, het); err != nil || !got.InStep {
		t.Errorf("a component: %+v, %v", got, err)
	}
}
