package ranks

import (
	"fmt"
	"strings"

	"lenslaunch/semconv"
)

// maxHetGroups bounds the components of a heterogeneous job that are counted;
// Slurm itself allows 128.
const maxHetGroups = 128

// decideAllocation places a launcher that is inside a Slurm allocation but not
// in a step: a batch script, salloc's shell. On one node it runs right here. On
// several it is refused, since the others would stay idle and unnoticed, unless the
// flags mean this node alone, or say its place among others. left, if not empty, says
// what made it look like a step.
func (r *resolver) decideAllocation(left string) error {
	nodes, source := allocationNodes(r.env)
	aside, force := "", ""
	if left != "" {
		aside, force = " ("+left+")", ", or --scheduler slurm if it is right"
		r.because("no step of Slurm job %s: %s", shown(r.env["SLURM_JOB_ID"]), left)
	}
	asked := nodes
	if r.req.NNodes != nil {
		asked = *r.req.NNodes
	}
	job := shown(r.env["SLURM_JOB_ID"])
	switch {
	case nodes == 0 || r.req.NNodes != nil && (asked <= 1 || r.laidOut()):
	case asked > nodes || asked < nodes && hetGroups(r.env) > 0:
		return &UsageError{
			fmt.Sprintf("%s is %d, but Slurm job %s has %s", r.req.from("--nnodes"), asked, job, counted(nodes, "node")),
			"leave it out, or give --node-rank, --master-addr and --master-port too, on every node",
		}
	case asked > 1:
		return &UsageError{
			fmt.Sprintf("Slurm job %s has %d nodes, and this launcher is not in a step of it%s", job, nodes, aside),
			"start one per node: " + srunLine(asked, r.req, r.env) + "; or use --scheduler none to run on this node alone" + force,
		}
	default:
		r.said.nodes = fact{1, source}
		r.warnOfLoginNode(job)
	}
	return nil
}

// warnOfLoginNode: the shell of salloc is where it was typed, not on the node that it was
// given. What slurmd has started, on the node, knows its name there.
func (r *resolver) warnOfLoginNode(job string) {
	hosts, err := Hostlist(r.env["SLURM_JOB_NODELIST"])
	if r.env["SLURMD_NODENAME"] != "" || r.req.Host == "" || err != nil || len(hosts) != 1 {
		return
	}
	here, _, _ := strings.Cut(r.req.Host, ".")
	node, _, _ := strings.Cut(hosts[0], ".")
	if strings.EqualFold(here, node) {
		return
	}
	r.Warnings = append(r.Warnings, fmt.Sprintf("the ranks run on this host, %s, and Slurm job %s has node %s: to run there use %s",
		shown(r.req.Host), job, hosts[0], srunLine(1, r.req, r.env)))
}

// allocationNodes counts the nodes of the job and names the variable that told.
// 0: no variable tells, as in a shell where somebody set SLURM_JOB_ID by hand.
func allocationNodes(env map[string]string) (nodes int, source string) {
	// The batch script of a heterogeneous job sees the plain variables of its own
	// component only.
	if counts := hetNodes(env); len(counts) > 1 {
		for _, n := range counts {
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

// hetGroups is the number of components of a heterogeneous job, 0 for any other.
func hetGroups(env map[string]string) int {
	n, ok := semconv.ParseInt(env["SLURM_HET_SIZE"])
	if !ok || n < 2 {
		return 0
	}
	return int(min(n, maxHetGroups))
}

// hetNodes is the number of nodes of each component, nil for a job without.
func hetNodes(env map[string]string) []int {
	var counts []int
	for i := range hetGroups(env) {
		n, ok := nodeCount(env[fmt.Sprintf("SLURM_JOB_NUM_NODES_HET_GROUP_%d", i)])
		if !ok {
			n = 1 // a component has one at least
		}
		counts = append(counts, n)
	}
	return counts
}

// nodeCount reads a number of nodes; a text that cannot be one tells nothing.
func nodeCount(text string) (int, bool) {
	n, ok := semconv.ParseInt(text)
	return int(n), ok && 1 <= n && n <= MaxHosts
}
