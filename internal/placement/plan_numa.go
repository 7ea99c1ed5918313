package placement

import (
	"fmt"
	"strings"
)

// planNUMA gives each rank the CPUs and the memory of its GPU's node, or of the node
// that an even division of the machine gives it.
func planNUMA(t Topology, gpus []int) ([]Binding, error) {
	if t.Nodes == nil {
		return nil, errNoMap
	}
	var nodes []Node // where ranks can run: some nodes have memory only
	for _, node := range t.Nodes {
		if len(node.CPUs) > 0 {
			nodes = append(nodes, node)
		}
	}
	if len(nodes) == 0 {
		return nil, fmt.Errorf("no NUMA node has any of the CPUs %v; use --cpu-bind cores or none", t.CPUs)
	}
	plan := make([]Binding, len(gpus))
	for rank, gpu := range gpus {
		own := atGPU(nodes, gpu)
		reason := "its GPU's"
		if own == nil {
			own, reason = spread(nodes, rank, len(gpus)), fmt.Sprintf("rank %d of %d on %d nodes", rank, len(gpus), len(nodes))
			if len(nodes) == 1 {
				reason = "the only one"
			}
			if gpu != NoNode {
				reason += fmt.Sprintf("; its GPU's node %d has no CPU for us", gpu)
			}
		}
		plan[rank] = onNodes(own, reason)
	}
	return plan, nil
}

// atGPU is the GPU's node, nil if that is unknown or has no CPU that may be used.
func atGPU(nodes []Node, gpu int) []Node {
	for i, node := range nodes {
		if node.ID == gpu {
			return nodes[i : i+1]
		}
	}
	return nil
}

// spread is a rank's part of the nodes. With at least as many ranks as nodes, each
// rank has one: that in which the middle of its even share of all CPUs lies, because a
// node of which we may use two CPUs must not get as many ranks as a whole one.
func spread(nodes []Node, rank, ranks int) []Node {
	if n := len(nodes); ranks < n {
		return nodes[rank*n/ranks : (rank+1)*n/ranks]
	}
	cpus := 0
	for _, node := range nodes {
		cpus += len(node.CPUs)
	}
	// In halves of a rank's share, to stay with integers.
	middle, end := (2*rank+1)*cpus, 0
	for i, node := range nodes {
		end += 2 * ranks * len(node.CPUs)
		if middle < end {
			return nodes[i : i+1]
		}
	}
	return nodes[len(nodes)-1:]
}

func onNodes(nodes []Node, reason string) Binding {
	var b Binding
	var lists []CPUList
	var ids CPUList
	for _, node := range nodes {
		lists, ids = append(lists, node.CPUs), append(ids, node.ID)
		// The kernel refuses a node without memory.
		if node.Memory > 0 {
			b.Nodes = append(b.Nodes, node.ID)
		}
	}
	b.CPUs = union(lists...)
	word, memory := "node", "memory from there"
	if len(nodes) > 1 {
		word = "nodes"
	}
	if len(b.Nodes) == 0 {
		memory = "which has no memory for us"
	}
	b.Why = strings.Join([]string{
		fmt.Sprintf("CPUs %v: NUMA %s %v (%s)", b.CPUs, word, ids, reason), memory,
	}, ", ")
	return b
}
