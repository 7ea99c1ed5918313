package ranks

import (
	"fmt"
	"slices"
	"strconv"

	"lenslaunch/semconv"
)

// decideSlurm finds this launcher's place in a Slurm job: in a step, or in an
// allocation without one. Flags that declare several nodes win over it.
func (r *resolver) decideSlurm() error {
	r.Scheduler = "slurm"
	if !inRealStep(r.env) {
		return r.decideAllocation("")
	}
	above := r.stepAbove()
	if anotherStep(above, r.env) {
		return r.decideAllocation(fmt.Sprintf("SLURM_STEP_ID %s is left over, this is %s", shown(r.env["SLURM_STEP_ID"]), shown(above)))
	}
	step, err := readStep(r.env)
	if err != nil {
		return err
	}
	if host := outside(r.env, step.hosts); above == "" && host != "" && r.req.Scheduler != "slurm" {
		return r.decideAllocation(fmt.Sprintf("SLURM_STEP_NODELIST is left over, %s is no node of the job", shown(host)))
	}
	if pid, stale := staleTask(r.req, r.env); stale {
		return r.decideStale(step, pid)
	}
	// Several launchers on one node would run the same ranks several times.
	if i := slices.IndexFunc(step.tasks, func(n int) bool { return n > 1 }); i >= 0 {
		return &UsageError{
			fmt.Sprintf("Slurm step %s starts %d launchers on a node, and one starts all ranks of its node", step.name, step.tasks[i]),
			"use srun --ntasks-per-node=1, and --nproc for the ranks",
		}
	}
	return r.enterStep(step)
}

// enterStep takes a place in a step that is believed. A step stays a step when
// flags lay out the nodes: Slurm still stops it in its own way.
func (r *resolver) enterStep(step slurmStep) error {
	r.InStep, r.Hosts = true, step.hosts
	r.because("head %s from SLURM_STEP_NODELIST", step.hosts[0])
	n := len(step.hosts)
	if r.req.NNodes != nil && *r.req.NNodes != n {
		if r.laidOut() {
			r.Hosts = nil // the names of other nodes than the flags mean
			return nil
		}
		return &UsageError{
			fmt.Sprintf("%s is %d, but Slurm step %s has %s", r.req.from("--nnodes"), *r.req.NNodes, step.name, counted(n, "node")),
			fmt.Sprintf("leave it out, or start a step of so many nodes: srun --nodes=%d --ntasks-per-node=1", *r.req.NNodes),
		}
	}
	r.said.nodes = fact{n, "SLURM_STEP_NODELIST"}
	r.said.head, r.said.derives = step.hosts[0], true
	r.StepPort = step.port
	id, ok := semconv.ParseInt(r.env["SLURM_NODEID"])
	switch {
	case r.env["SLURM_NODEID"] == "" && n == 1:
		return nil // there is no choice
	case !ok || id < 0 || id >= int64(n):
		return &UsageError{
			fmt.Sprintf("SLURM_NODEID is %q, no place among the %s of Slurm step %s", clip(r.env["SLURM_NODEID"], 64), counted(n, "node"), step.name),
			"start it with srun, or give --node-rank R",
		}
	}
	r.said.rank = fact{int(id), "SLURM_NODEID"}
	return nil
}

// laidOut: the flags place this node among several, and flags win.
func (r *resolver) laidOut() bool {
	return r.req.NNodes != nil && *r.req.NNodes > 1 && r.req.NodeRank != nil
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
func (r *resolver) decideStale(step slurmStep, pid int) error {
	if len(step.hosts) > 1 && !r.laidOut() {
		return &UsageError{
			fmt.Sprintf("the variables of Slurm step %s (%d nodes) seem left over: its task, pid %s, runs beside this launcher",
				step.name, len(step.hosts), strconv.Itoa(pid)),
			"use --scheduler none to run on this node alone, or --scheduler slurm if they are right",
		}
	}
	r.because("Slurm step %s ignored: SLURM_TASK_PID %d is not an ancestor", step.name, pid)
	return nil
}
