package ranks

import (
	"slices"
	"strings"
)

// A job that is submitted from a shell inside a step inherits the step's variables:
// sbatch and salloc pass all of the environment on, and Slurm before 26.05 writes over
// those of a job alone. Its batch script then looks like a step of few nodes, a world of
// its own beside idle ones. Two things tell: who runs this, and whose the nodes are.

// anotherStep names what runs this launcher, if that is not a step of the job that the
// variables speak of. --scheduler slurm says that they are right all the same.
func anotherStep(req *Request, env map[string]string) string {
	if req.StepAbove == nil || req.Scheduler == "slurm" {
		return ""
	}
	name := req.StepAbove()
	job, step, ok := strings.Cut(name, ".")
	switch {
	case !ok:
		return ""
	case step == "batch" || step == "interactive" || step == "extern":
		return name
	case hetGroups(env) == 0 && onlyDigits(job) && onlyDigits(env["SLURM_JOB_ID"]) && job != env["SLURM_JOB_ID"]:
		return name // salloc in a step of another job; components of one job have numbers of their own
	}
	return ""
}

func onlyDigits(text string) bool {
	_, rest := digits(text)
	return text != "" && rest == ""
}

// outside is the first of the step's hosts that is none of the job's, "" if all are, or if
// it is not said which those are. Components of a heterogeneous job may know their own alone.
func outside(req *Request, env map[string]string, hosts []string) string {
	job, err := Hostlist(env["SLURM_JOB_NODELIST"])
	if err != nil || len(job) == 0 || hetGroups(env) > 0 || req.Scheduler == "slurm" {
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
