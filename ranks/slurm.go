package ranks

import (
	"fmt"
	"slices"

	"lenslaunch/semconv"
)

// firstReservedStep is the lowest of the step ids that Slurm keeps for what is
// not a step of the user's: batch script, interactive shell, external processes.
// From 26.05 they are negative instead.
const firstReservedStep = 4294967280

// slurmStep is a step as its variables describe it.
type slurmStep struct {
	name  string // "JOB.STEP"
	hosts []string
	tasks []int // per node; nil if the variable is not set
}

// inRealStep decides whether the variables describe a step of the user's. The
// id alone would do, were it always set to something; the task variables never
// do: a batch script looks like rank 0 of N (SLURM_PROCID=0, SLURM_NTASKS=N).
func inRealStep(env map[string]string) bool {
	id, ok := semconv.ParseInt(env["SLURM_STEP_ID"])
	return ok && 0 <= id && id < firstReservedStep && env["SLURM_STEP_NODELIST"] != ""
}

// decideSlurm finds this launcher's place in a Slurm job: in a step, or in an
// allocation without one. Flags that declare several nodes win over it.
func decideSlurm(w *World, req *Request, env map[string]string) error {
	if !inRealStep(env) {
		return decideAllocation(w, req, env)
	}
	step, err := readStep(env)
	if err != nil {
		return err
	}
	if pid, stale := staleTask(req, env); stale {
		return decideStale(w, req, step, pid)
	}
	// Several launchers on one node would run the same ranks several times.
	if i := slices.IndexFunc(step.tasks, func(n int) bool { return n > 1 }); i >= 0 {
		return &UsageError{
			fmt.Sprintf("Slurm step %s starts %d launchers on a node, and one starts all ranks of its node", step.name, step.tasks[i]),
			"use srun --ntasks-per-node=1, and --nproc for the ranks",
		}
	}
	// A step stays a step when flags lay out the nodes: Slurm still stops it in its
	// own way.
	w.InStep = true
	if declaredSeveral(req) {
		return nil
	}
	if len(step.hosts) > 1 {
		return &UsageError{
			fmt.Sprintf("Slurm step %s has %d nodes, and steps of several nodes are not supported yet", step.name, len(step.hosts)),
			"give the nodes by flags: " + staticFlags(len(step.hosts), step.hosts[0], env["SLURM_JOB_ID"]),
		}
	}
	if w.Nodes = 1; req.NNodes == nil {
		w.because("1 node from SLURM_STEP_NODELIST")
	}
	w.because("head %s from SLURM_STEP_NODELIST", step.hosts[0])
	return nil
}

// readStep reads and checks what Slurm says of the step. A list that does not
// have as many names as the step has nodes would shift ranks: refused.
func readStep(env map[string]string) (slurmStep, error) {
	const hint = "start it with srun, or use --scheduler none to leave Slurm out"
	step := slurmStep{name: shown(env["SLURM_JOB_ID"] + "." + env["SLURM_STEP_ID"])}
	var err error
	if step.hosts, err = Hostlist(env["SLURM_STEP_NODELIST"]); err != nil {
		return step, &UsageError{"SLURM_STEP_NODELIST: " + err.Error(), hint}
	}
	// Without the count the list has to be believed.
	want := int64(len(step.hosts))
	if text := env["SLURM_STEP_NUM_NODES"]; text != "" {
		n, ok := semconv.ParseInt(text)
		if want = n; !ok {
			return step, &UsageError{fmt.Sprintf("SLURM_STEP_NUM_NODES is %q, which is no number", clip(text, 64)), hint}
		}
	}
	if want < 1 || want != int64(len(step.hosts)) {
		return step, &UsageError{
			fmt.Sprintf("SLURM_STEP_NODELIST %q names %s, but SLURM_STEP_NUM_NODES is %d",
				clip(env["SLURM_STEP_NODELIST"], 64), counted(len(step.hosts), "host"), want),
			hint,
		}
	}
	if text := env["SLURM_STEP_TASKS_PER_NODE"]; text != "" {
		if step.tasks, err = TasksPerNode(text); err != nil {
			return step, &UsageError{"SLURM_STEP_TASKS_PER_NODE: " + err.Error(), hint}
		}
	}
	return step, nil
}

// staleTask reports that the step's variables belong to another process: a shell
// or tmux server of the task that outlived it, or one reached over ssh.
// --scheduler slurm says that they are right all the same.
func staleTask(req *Request, env map[string]string) (pid int, stale bool) {
	n, ok := semconv.ParseInt(env["SLURM_TASK_PID"])
	if !ok || n < 1 || n != int64(int32(n)) || req.Foreign == nil || req.Scheduler == "slurm" {
		return 0, false
	}
	return int(n), req.Foreign(int(n))
}

// decideStale places a launcher whose step is not believed. A step of one node
// is harmless: run here. A larger one is not guessed about, since every node
// would become a world of its own.
func decideStale(w *World, req *Request, step slurmStep, pid int) error {
	if len(step.hosts) > 1 && !declaredSeveral(req) {
		return &UsageError{
			fmt.Sprintf("the variables of Slurm step %s (%d nodes) seem left over: its task, pid %d, runs beside this launcher",
				step.name, len(step.hosts), pid),
			"use --scheduler none to run on this node alone, or --scheduler slurm if they are right",
		}
	}
	w.because("Slurm step %s ignored: SLURM_TASK_PID %d is not an ancestor", step.name, pid)
	return nil
}

// declaredSeveral: the flags lay out several nodes, and flags win.
func declaredSeveral(req *Request) bool { return req.NNodes != nil && *req.NNodes > 1 }
