package ranks

import (
	"fmt"
	"slices"
	"strings"

	"lenslaunch/internal/wording"
)

// srunLine is the command that starts one launcher on each node, to be used as it
// stands. --ntasks is there because a batch script's own number of tasks is
// inherited and beats --ntasks-per-node; --cpus-per-task because from Slurm 22.05 on
// a step does not inherit it, and one task would have one CPU for all its ranks.
//
// The components of a heterogeneous job share options only if they have as many nodes
// each; else every one has a part of the line, and the parts are one step.
func srunLine(nodes int, req *Request, env map[string]string) string {
	parts := []string{srunPart("", nodes, env)}
	if counts := hetNodes(env); len(counts) > 1 {
		parts = nil
		for group, n := range counts {
			parts = append(parts, srunPart(fmt.Sprintf("--het-group=%d ", group), n, env))
		}
		if slices.Max(counts) == slices.Min(counts) {
			parts = []string{srunPart(fmt.Sprintf("--het-group=0-%d ", len(counts)-1), counts[0], env)}
		}
	}
	program := "lenslaunch"
	if req.Program != nil {
		program = req.Program()
	}
	words := []string{wording.ShellWord(program)}
	for _, arg := range req.Args {
		words = append(words, wording.ShellWord(arg))
	}
	if len(req.Args) == 0 {
		words = append(words, "-- COMMAND")
	}
	command := strings.Join(words, " ")
	return "srun " + strings.Join(parts, command+" : ") + command
}

// srunPart is what stands before the launcher, for so many nodes.
func srunPart(group string, nodes int, env map[string]string) string {
	cpus := ""
	if n := leastCPUs(env); n > 1 {
		cpus = fmt.Sprintf("--cpus-per-task=%d ", n)
	}
	return fmt.Sprintf("%s--nodes=%d --ntasks=%d --ntasks-per-node=1 %s--kill-on-bad-exit=1 ", group, nodes, nodes, cpus)
}

// leastCPUs is the number of CPUs that the job has on each of its nodes at least.
func leastCPUs(env map[string]string) int {
	counts, err := TasksPerNode(env["SLURM_JOB_CPUS_PER_NODE"]) // the same notation
	if err != nil || hetGroups(env) > 1 {
		return 0
	}
	return slices.Min(counts)
}
