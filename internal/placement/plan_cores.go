package placement

import (
	"cmp"
	"fmt"
	"slices"
)

// planCores divides the cores into as many runs of neighbours as there are ranks; the
// lengths differ by one at most. Which rank gets which run goes by its GPU's node
// where all are known, since GPU 0 need not be near core 0; else by its number. An
// even division matters more than a near GPU: the slowest rank sets the pace.
func planCores(t Topology, gpus []int) ([]Binding, error) {
	n, cores := len(gpus), len(t.Cores)
	if n > cores {
		return nil, fmt.Errorf("there are %d cores (CPUs %v) and each rank would need one of its own; "+
			"use --cpu-bind numa, where ranks share CPUs, or none, or at most %d ranks", cores, t.CPUs, cores)
	}
	order, near := byGPU(t, gpus)
	plan := make([]Binding, n)
	for place, rank := range order {
		share := t.Cores[place*cores/n : (place+1)*cores/n]
		var lists []CPUList
		for _, core := range share {
			lists = append(lists, core.CPUs)
		}
		cpus := union(lists...)
		why := fmt.Sprintf("CPUs %v: %d of %d cores", cpus, len(share), cores)
		if near {
			why += fmt.Sprintf(", GPU at NUMA node %d", gpus[rank])
		}
		plan[rank] = Binding{CPUs: cpus, Why: why}
	}
	return plan, nil
}

// byGPU is the ranks in the order in which their GPUs' nodes come among the cores;
// false, and the order of their numbers, unless each node is known and has a core.
func byGPU(t Topology, gpus []int) (order []int, near bool) {
	place := make(map[int]int)
	for i, core := range t.Cores {
		if _, ok := place[core.Node]; !ok && core.Node != NoNode {
			place[core.Node] = i
		}
	}
	near = true
	for rank, node := range gpus {
		order = append(order, rank)
		_, ok := place[node]
		near = near && ok
	}
	if near {
		slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(place[gpus[a]], place[gpus[b]]) })
	}
	return order, near
}
