package ranks

import "fmt"

// decideScheduler lets the scheduler speak, if there is one and it was not
// turned off.
func (r *resolver) decideScheduler() error {
	flag := r.req.from("--scheduler")
	switch r.req.Scheduler {
	case "none":
		r.because("no scheduler from %s", flag)
		return nil
	case "", "auto":
		// Slurm first: its nodes may be pods (the pods' variables are then slurmd's).
		if r.env["SLURM_JOB_ID"] != "" {
			return r.decideSlurm()
		}
		if inKubernetes(r.req, r.env) {
			return r.decideKubernetes()
		}
		return nil
	case "slurm":
		if r.env["SLURM_JOB_ID"] == "" {
			return &UsageError{flag + " is slurm, but SLURM_JOB_ID is not set", "start it with srun or sbatch, or use --scheduler none"}
		}
		return r.decideSlurm()
	case "kubernetes":
		// Asking for it elsewhere is a mistake.
		if r.env["KUBERNETES_SERVICE_HOST"] == "" && !kubeflow(r.env) {
			return &UsageError{flag + " is kubernetes, but KUBERNETES_SERVICE_HOST is not set", "start it in a pod, or use --scheduler none"}
		}
		return r.decideKubernetes()
	}
	return &UsageError{fmt.Sprintf("%s is %q", flag, clip(r.req.Scheduler, 64)), "use auto, none, slurm or kubernetes"}
}
