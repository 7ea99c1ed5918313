package placement

import (
	"errors"
	"fmt"
)

// Mode is a way of binding, the value of --cpu-bind.
type Mode string

// The modes; the package comment says what they do.
const (
	None  Mode = "none"
	Cores Mode = "cores"
	NUMA  Mode = "numa"
)

// ParseMode reads a mode.
func ParseMode(text string) (Mode, error) {
	switch m := Mode(text); m {
	case None, Cores, NUMA:
		return m, nil
	}
	return "", fmt.Errorf("%q is no way of binding: none, cores or numa", text)
}

// Binding is the place of one rank. The zero Binding binds nothing.
type Binding struct {
	CPUs  CPUList // empty: the affinity mask stays
	Nodes []int   // preferred for memory, see Apply; empty: the memory policy stays
	Ranks int     // how many ranks, this one among them, use some of these CPUs
	Why   string  // one line for the log and `lenslaunch env`
}

// Plan gives each local rank of a machine its place. gpuNodes is the NUMA node of each
// local rank's GPU, NoNode where that is unknown; it may be short or nil.
func Plan(t Topology, mode Mode, localRanks int, gpuNodes []int) ([]Binding, error) {
	if localRanks < 1 {
		return nil, fmt.Errorf("cannot place %d ranks", localRanks)
	}
	gpus := make([]int, localRanks)
	for i := range gpus {
		gpus[i] = NoNode
		if i < len(gpuNodes) {
			gpus[i] = gpuNodes[i]
		}
	}
	var plan []Binding
	var err error
	switch mode {
	case None:
		plan = make([]Binding, localRanks)
	case Cores:
		plan, err = planCores(t, gpus)
	case NUMA:
		plan, err = planNUMA(t, gpus)
	default:
		err = fmt.Errorf("no way of binding is called %q", string(mode))
	}
	if err != nil {
		return nil, fmt.Errorf("cannot bind %d ranks: %w", localRanks, err)
	}
	countSharers(plan)
	return plan, nil
}

var errNoMap = errors.New("this kernel shows no NUMA nodes; use --cpu-bind cores or none")

// countSharers fills in Ranks.
func countSharers(plan []Binding) {
	for i := range plan {
		for j := range plan {
			if i == j || len(plan[i].CPUs.and(plan[j].CPUs)) > 0 {
				plan[i].Ranks++
			}
		}
		if n := plan[i].Ranks; n > 1 {
			plan[i].Why += fmt.Sprintf(", shared by %d ranks", n)
		}
	}
}
