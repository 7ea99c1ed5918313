package ranks

import (
	"slices"
	"strings"
)

// A job that is submitted from a shell inside a step inherits the step's variables:
// sbatch and salloc pass all of the environment on, and Slurm before 26.05 writes over
// those of a job alone. Its batch script then looks like a step of few nodes, a world of
// its own beside idle ones. Two things tell: who runs this, and whose the nodes are.

// stepAbove names what runs this launcher, "" where that cannot be seen, or does not matter
// because of --scheduler slurm.
func (r *resolver) stepAbove() string {
	if r.req.StepAbove == nil || r.req.Scheduler == "slurm" {
		return ""
	}
	return r.req.StepAbove()
}

// anotherStep reports that what runs this launcher is not a step of the job that the
// variables speak of.
func anotherStep(above string, env map[string]string) bool {
	job, step, ok := strings.Cut(above, ".")
	switch {
	case !ok:
		return false
	case step == "batch" || step == "interactive" || step == "extern":
		return true
	}
	// salloc in a step of another job. Components of one job have numbers of their own.
	return hetGroups(env) == 0 && onlyDigits(job) && onlyDigits(env["SLURM_JOB_ID"]) && job != env["SLURM_JOB_ID"]
}

func onlyDigits(text string) bool {
	_, rest := digits(text)
	return text != "" && rest == ""
}

// outside is the first of the step's hosts that is none of the job's, "" if all are, or if
// it is not said which those are. It is for a launcher that cannot see what runs it: srun in
// a shell of another job leaves that job's SLURM_JOB_NODELIST to a real step. Components of
// a heterogeneous job may know their own nodes alone.
func outside(env map[string]string, hosts []string) string {
	job, err := Hostlist(env["SLURM_JOB_NODELIST"])
	if err != nil || len(job) == 0 || hetGroups(env) > 0 {
		return ""
	}
	known := map[string]bool{}
	for _, host := range job {
		known[host] = true
	}
	if i := slices.IndexFunc(hosts, func(host string) bool { return !known[host] }); i >= 0 {
		return hosts[i]
	}
	return ""
}
