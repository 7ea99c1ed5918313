package ranks

import (
	"fmt"
	"strconv"

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
	port  int   // the first that is reserved for it, 0: none
}

// inRealStep decides whether the variables describe a step of the user's. The
// id alone would do, were it always set to something; the task variables never
// do: a batch script looks like rank 0 of N (SLURM_PROCID=0, SLURM_NTASKS=N).
func inRealStep(env map[string]string) bool {
	id, ok := semconv.ParseInt(env["SLURM_STEP_ID"])
	return ok && 0 <= id && id < firstReservedStep && env["SLURM_STEP_NODELIST"] != ""
}

// readStep reads and checks what Slurm says of the step. A list that does not
// have as many names as the step has nodes would shift ranks: refused. The list is
// the step's own: SLURM_NODELIST may name nodes that a subset step does not have.
func readStep(env map[string]string) (slurmStep, error) {
	const hint = "start it with srun, or use --scheduler none to leave Slurm out"
	step := slurmStep{name: shown(env["SLURM_JOB_ID"] + "." + env["SLURM_STEP_ID"]), port: firstPort(env["SLURM_STEP_RESV_PORTS"])}
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

// firstPort reads the first of a list of ports such as "12002-12003,12007". A text
// that has none is as good as none: it is the same on all nodes of the step.
func firstPort(text string) int {
	number, _ := digits(text)
	port, err := strconv.ParseUint(number, 10, 16)
	if err != nil {
		return 0
	}
	return int(port)
}
