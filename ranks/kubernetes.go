package ranks

import (
	"fmt"
	"math"
	"strings"

	"lenslaunch/semconv"
)

// Variables that the downward API fills in a JobSet of several Jobs: which Job of
// the set this pod's is, and how many pods each has.
const (
	jobIndexVariable = "LENSLAUNCH_JOB_GLOBAL_INDEX"
	podsVariable     = "LENSLAUNCH_PODS_PER_JOB"
)

// inKubernetes reports whether this launcher runs in a pod, and may believe it.
func inKubernetes(req *Request, env map[string]string) bool {
	switch req.Scheduler {
	case "", "auto":
		return env["SLURM_JOB_ID"] == "" && (env["KUBERNETES_SERVICE_HOST"] != "" || kubeflow(env))
	}
	return req.Scheduler == "kubernetes"
}

// kubeflow: a training operator has laid out the nodes. It always sets both.
func kubeflow(env map[string]string) bool {
	return env["PET_NNODES"] != "" && env["PET_NODE_RANK"] != ""
}

// decideKubernetes reads what a training operator, a JobSet or an Indexed Job says
// of this pod. An index alone is no world: the pods of an Indexed Job may have
// nothing to do with each other, until --nnodes says that they belong together.
func (r *resolver) decideKubernetes() error {
	r.Scheduler = "kubernetes"
	var err error
	if r.said.nodes, err = r.petNodes(); err != nil {
		return err
	}
	several := r.said.nodes.value > 1
	if r.req.NNodes != nil {
		several = *r.req.NNodes > 1
	}
	if !several {
		return nil
	}
	if r.said.rank, err = r.podRank(); err != nil {
		return err
	}
	r.said.addr, r.said.addrFrom = r.env["PET_MASTER_ADDR"], "PET_MASTER_ADDR"
	if r.req.MasterPort == 0 {
		r.said.port, err = r.whole("PET_MASTER_PORT", 1, math.MaxUint16)
	}
	return err
}

// petNodes reads PET_NNODES, N or MIN:MAX.
func (r *resolver) petNodes() (fact, error) {
	const name = "PET_NNODES"
	text := r.env[name]
	if r.req.NNodes != nil || text == "" {
		return fact{}, nil
	}
	least, most, elastic := strings.Cut(text, ":")
	if elastic && least != most {
		return fact{}, &UsageError{
			fmt.Sprintf("%s is %q, which means an elastic job, and nothing here tells how many nodes have come", name, clip(text, 64)),
			"give the number of nodes with --nnodes N, or a fixed one in the job",
		}
	}
	n, ok := nodeCount(least)
	if !ok {
		return fact{}, &UsageError{fmt.Sprintf("%s is %q", name, clip(text, 64)), "give a number of nodes, or --nnodes N"}
	}
	return fact{n, name}, nil
}

// podRank is the place of this pod among the nodes.
func (r *resolver) podRank() (fact, error) {
	if r.req.NodeRank != nil {
		return fact{}, nil
	}
	rank, err := r.whole("PET_NODE_RANK", 0, MaxHosts)
	if err != nil || rank.known() {
		return rank, err
	}
	index, err := r.whole("JOB_COMPLETION_INDEX", 0, MaxHosts)
	if err != nil || !index.known() {
		return fact{}, err
	}
	return r.rankInJobSet(index)
}

// rankInJobSet is the place of a pod that knows its index in its Job, among the pods of all
// Jobs if there are several.
func (r *resolver) rankInJobSet(index fact) (fact, error) {
	job, err := r.whole(jobIndexVariable, 0, MaxHosts)
	if err != nil {
		return fact{}, err
	}
	pods, err := r.whole(podsVariable, 1, MaxHosts)
	switch {
	case err != nil:
		return fact{}, err
	case !job.known() && pods.known() && r.req.NNodes != nil && pods.value < *r.req.NNodes:
		// The downward API writes nothing for an annotation that is not there.
		return fact{}, &UsageError{
			fmt.Sprintf("%s is %d of %d nodes, but %s is empty: the pods of every Job would have the same ranks", podsVariable, pods.value, *r.req.NNodes, jobIndexVariable),
			"set it from the annotation jobset.sigs.k8s.io/job-global-index; older versions of JobSet do not write it",
		}
	case !job.known():
		return index, nil
	case !pods.known():
		return fact{}, &UsageError{jobIndexVariable + " is set, but " + podsVariable + " is not", "set it to the number of pods of each Job, its parallelism"}
	case index.value >= pods.value:
		return fact{}, &UsageError{
			fmt.Sprintf("JOB_COMPLETION_INDEX is %d with %s %d", index.value, podsVariable, pods.value),
			"set " + podsVariable + " to the number of pods of each Job, its parallelism",
		}
	}
	return fact{
		job.value*pods.value + index.value,
		fmt.Sprintf("%s %d x %s %d + JOB_COMPLETION_INDEX %d", jobIndexVariable, job.value, podsVariable, pods.value, index.value),
	}, nil
}

// whole reads a variable that must be a number where it is set.
func (r *resolver) whole(name string, least, most int64) (fact, error) {
	text := r.env[name]
	if text == "" {
		return fact{}, nil
	}
	n, ok := semconv.ParseInt(text)
	if !ok || n < least || n > most {
		return fact{}, &UsageError{fmt.Sprintf("%s is %q", name, clip(text, 64)), fmt.Sprintf("it must be a number from %d to %d", least, most)}
	}
	return fact{int(n), name}, nil
}
