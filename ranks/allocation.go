package ranks

import (
	"fmt"

	"lenslaunch/semconv"
)

// maxHetGroups bounds the components of a heterogeneous job that are counted;
// Slurm itself allows 128.
const maxHetGroups = 128

// decideAllocation places a launcher that is inside a Slurm allocation but not
// in a step: a batch script, salloc's shell. On one node it runs right here. On
// several it is refused, since the others would stay idle and unnoticed, unless
// the flags say how many nodes are meant.
func decideAllocation(w *World, req *Request, env map[string]string) error {
	nodes, source := allocationNodes(env)
	switch {
	case req.NNodes != nil:
		return nil
	case nodes > 1:
		return &UsageError{
			fmt.Sprintf("Slurm job %s has %d nodes, and this launcher is not in a step of it", shown(env["SLURM_JOB_ID"]), nodes),
			"start one per node: " + srunLine(nodes, env) + "; or use --scheduler none to run on this node alone",
		}
	case nodes == 1:
		w.Nodes = 1
		w.because("1 node from %s", source)
	}
	return nil
}

// allocationNodes counts the nodes of the job and names the variable that told.
// 0: no variable tells, as in a shell where somebody set SLURM_JOB_ID by hand.
func allocationNodes(env map[string]string) (nodes int, source string) {
	// The batch script of a heterogeneous job sees the plain variables of its own
	// component only.
	if groups, ok := semconv.ParseInt(env["SLURM_HET_SIZE"]); ok && groups > 1 {
		for i := range min(groups, maxHetGroups) {
			n, ok := nodeCount(env[fmt.Sprintf("SLURM_JOB_NUM_NODES_HET_GROUP_%d", i)])
			if !ok {
				n = 1 // a component has one at least
			}
			nodes += n
		}
		return nodes, "SLURM_HET_SIZE"
	}
	// SLURM_NNODES is the older name, and inside a step that of the step.
	for _, name := range []string{"SLURM_JOB_NUM_NODES", "SLURM_NNODES"} {
		if n, ok := nodeCount(env[name]); ok {
			return n, name
		}
	}
	if hosts, err := Hostlist(env["SLURM_JOB_NODELIST"]); err == nil && len(hosts) > 0 {
		return len(hosts), "SLURM_JOB_NODELIST"
	}
	return 0, ""
}

// nodeCount reads a number of nodes; a text that cannot be one tells nothing.
func nodeCount(text string) (int, bool) {
	n, ok := semconv.ParseInt(text)
	return int(n), ok && 1 <= n && n <= MaxHosts
}

// srunLine is the command that starts one launcher on each node. It lays the
// nodes out by flags, because steps of several nodes are not read yet.
func srunLine(nodes int, env map[string]string) string {
	spread := fmt.Sprintf("--nodes=%d", nodes)
	if groups, ok := semconv.ParseInt(env["SLURM_HET_SIZE"]); ok && groups > 1 {
		spread = fmt.Sprintf("--het-group=0-%d", min(groups, maxHetGroups)-1)
	}
	head := "HEAD"
	if hosts, err := Hostlist(env["SLURM_JOB_NODELIST"]); err == nil && len(hosts) > 0 {
		head = hosts[0]
	}
	return fmt.Sprintf("srun %s --ntasks-per-node=1 --kill-on-bad-exit=1 sh -c 'exec lenslaunch %s -- COMMAND'",
		spread, staticFlags(nodes, head, env["SLURM_JOB_ID"]))
}

// staticFlags writes out the flags for one node of several in a Slurm step. The
// port comes from the job id, so that two jobs on a host rarely meet; it is a
// proposal, and the person who runs it sees it.
func staticFlags(nodes int, head, job string) string {
	id, ok := semconv.ParseInt(job)
	if !ok || id < 0 {
		return fmt.Sprintf(`--scheduler none --nnodes %d --node-rank "$SLURM_NODEID" --master-addr %s --master-port PORT --run-id "$SLURM_JOB_ID"`, nodes, head)
	}
	return fmt.Sprintf(`--scheduler none --nnodes %d --node-rank "$SLURM_NODEID" --master-addr %s --master-port %d --run-id %d`,
		nodes, head, 20000+id%10000, id)
}
