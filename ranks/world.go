package ranks

import "fmt"

// A World is the answer: where this node's ranks stand among all. It is whole
// or it is not there; [Resolve] returns no half-filled one.
type World struct {
	Nodes     int // how many nodes there are, at least 1
	NodeRank  int // which one this is, 0 to Nodes-1
	LocalSize int // ranks on this node, at least 1; the same on every node

	// MasterAddr is where the others reach rank 0's store. "": the scheduler has
	// named the head alone, and somebody who can look names up decides (Hosts).
	MasterAddr string

	// MasterPort is 0 where nobody named one. Then a free one is reserved for each
	// attempt on one node; with several nodes, which must agree without a message,
	// it is StepPort for attempt 0, else derived from the attempt UUID.
	MasterPort int
	StepPort   int // first of the ports that Slurm has reserved for the step, 0: none

	Scheduler string   // whose variables were read: "slurm", "kubernetes" or "" (none)
	Hosts     []string // names of the step's nodes in the order of their ranks, nil outside

	// InStep says that this launcher is a task of a Slurm step, and that the
	// step's variables were believed. Stop time and exit codes differ there
	// (cluster specification, "Slurm: signals and codes").
	InStep bool

	// Why holds one line for each decision, in the order in which they were
	// taken: "8 local ranks from --nproc", "node rank 0 of 1 from default".
	Why []string

	// Warnings say what is odd about it, one line each.
	Warnings []string
}

// A Rank is one rank of this node.
type Rank struct {
	Rank  int // among all ranks of all nodes
	Local int // on this node
}

// WorldSize is the number of ranks on all nodes.
func (w World) WorldSize() int { return w.Nodes * w.LocalSize }

// Rank returns the global rank of a local one. Nodes are filled one after the
// other, as torchrun fills them.
func (w World) Rank(local int) int { return w.NodeRank*w.LocalSize + local }

// LocalRanks lists the ranks of this node in order.
func (w World) LocalRanks() []Rank {
	list := make([]Rank, w.LocalSize)
	for local := range list {
		list[local] = Rank{Rank: w.Rank(local), Local: local}
	}
	return list
}

func (w *World) because(format string, args ...any) {
	w.Why = append(w.Why, fmt.Sprintf(format, args...))
}

// counted writes "1 node" and "3 nodes".
func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
