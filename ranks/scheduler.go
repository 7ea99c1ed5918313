package ranks

import "fmt"

// decideScheduler lets the scheduler speak, if there is one and it was not
// turned off. It leaves w.Nodes at 0 if nothing was decided.
func decideScheduler(w *World, req *Request, env map[string]string) error {
	flag := req.from("--scheduler")
	switch req.Scheduler {
	case "none":
		w.because("no scheduler from %s", flag)
		return nil
	case "", "auto":
		if env["SLURM_JOB_ID"] == "" {
			return nil
		}
		return decideSlurm(w, req, env)
	case "slurm":
		if env["SLURM_JOB_ID"] == "" {
			return &UsageError{flag + " is slurm, but SLURM_JOB_ID is not set", "start it with srun or sbatch, or use --scheduler none"}
		}
		return decideSlurm(w, req, env)
	case "kubernetes":
		// A pod is placed by the flags; what can be read from a Job's variables
		// is left to a later version, and asking for it elsewhere is a mistake.
		if env["KUBERNETES_SERVICE_HOST"] == "" {
			return &UsageError{flag + " is kubernetes, but KUBERNETES_SERVICE_HOST is not set", "start it in a pod, or use --scheduler none"}
		}
		return nil
	}
	return &UsageError{fmt.Sprintf("%s is %q", flag, clip(req.Scheduler, 64)), "use auto, none, slurm or kubernetes"}
}
