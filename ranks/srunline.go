package ranks

import (
	"fmt"
	"strings"
)

// srunLine is the command that starts one launcher on each node, to be used as it
// stands. --ntasks is there because a batch script's own number of tasks is
// inherited and beats --ntasks-per-node; --cpus-per-task because from Slurm 22.05 on
// a step does not inherit it, and one task would have one CPU for all its ranks.
func srunLine(nodes int, args []string, env map[string]string) string {
	words := []string{"srun"}
	if groups := hetGroups(env); groups > 1 {
		words = append(words, fmt.Sprintf("--het-group=0-%d", groups-1))
	} else {
		words = append(words, fmt.Sprintf("--nodes=%d --ntasks=%d", nodes, nodes))
	}
	words = append(words, "--ntasks-per-node=1")
	if cpus := equalCPUs(env); cpus > 1 {
		words = append(words, fmt.Sprintf("--cpus-per-task=%d", cpus))
	}
	words = append(words, "--kill-on-bad-exit=1 lenslaunch")
	if len(args) == 0 {
		return strings.Join(append(words, "-- COMMAND"), " ")
	}
	for _, arg := range args {
		words = append(words, quoted(arg))
	}
	return strings.Join(words, " ")
}

// equalCPUs is the number of CPUs of the job on each node, if it is the same on all.
func equalCPUs(env map[string]string) int {
	counts, err := TasksPerNode(env["SLURM_JOB_CPUS_PER_NODE"]) // the same notation
	if err != nil || hetGroups(env) > 1 {
		return 0
	}
	for _, n := range counts {
		if n != counts[0] {
			return 0
		}
	}
	return counts[0]
}

// quoted is a word that a shell reads as text.
func quoted(word string) string {
	plain := func(c rune) bool {
		return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.ContainsRune("-_./=,:@%+", c)
	}
	if word != "" && strings.TrimFunc(word, plain) == "" {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
