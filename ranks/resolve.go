package ranks

import (
	"fmt"
	"math"
)

// Resolve decides the world of this launcher from its flags, the scheduler's
// variables in env (an absent key is an unset variable) and the facts of the
// host. Flags win over the scheduler, the scheduler over defaults. Every error
// is a [*UsageError].
func Resolve(req Request, env map[string]string) (World, error) {
	r := resolver{req: &req, env: env}
	for _, decide := range []func() error{
		r.decideLocalSize, r.decideScheduler, r.decideNodes, r.decideAddress, r.decidePort, r.checkSeveralNodes,
	} {
		if err := decide(); err != nil {
			return World{}, err
		}
	}
	return r.World, nil
}

// resolver is a world in the making.
type resolver struct {
	World
	req  *Request
	env  map[string]string
	said said
}

// said is what the scheduler's variables say of this node; flags beat each of it.
type said struct {
	nodes, rank fact
	addr        string // where the master is
	addrFrom    string
	port        fact
	head        string // name of node 0, for who can look it up
	derives     bool   // all nodes see one attempt UUID, so they can derive a port
}

// fact is a number and the variable that told it; "": nobody did.
type fact struct {
	value int
	from  string
}

func (f fact) known() bool { return f.from != "" }

// decideNodes settles how many nodes there are and which one this is.
func (r *resolver) decideNodes() error {
	from := "default"
	switch {
	case r.req.NNodes != nil:
		from = r.req.from("--nnodes")
		if r.Nodes = *r.req.NNodes; r.Nodes < 1 {
			return &UsageError{fmt.Sprintf("%s is %d", from, r.Nodes), "give the number of nodes, 1 or more"}
		}
	case r.said.nodes.known():
		r.Nodes, from = r.said.nodes.value, r.said.nodes.from
	default:
		r.Nodes = 1
	}
	r.because("%s from %s", counted(r.Nodes, "node"), from)
	if err := r.decideNodeRank(); err != nil {
		return err
	}
	// No bound of taste, only that WorldSize and Rank stay numbers.
	if r.LocalSize > math.MaxInt/r.Nodes {
		return &UsageError{
			fmt.Sprintf("%d local ranks on %d nodes are more than can be counted", r.LocalSize, r.Nodes),
			"give a smaller --nproc or --nnodes",
		}
	}
	return nil
}

// decideNodeRank settles which of the nodes this is, where anything tells.
func (r *resolver) decideNodeRank() error {
	rank := fact{0, "default"}
	switch {
	case r.req.NodeRank != nil:
		rank = fact{*r.req.NodeRank, r.req.from("--node-rank")}
	case r.said.rank.known():
		rank = r.said.rank
	case r.Nodes > 1:
		return nil // it is missing: see checkSeveralNodes
	}
	if rank.value < 0 || rank.value >= r.Nodes {
		return &UsageError{
			fmt.Sprintf("%s is %d, outside the %s", rank.from, rank.value, counted(r.Nodes, "node")),
			fmt.Sprintf("give a node rank from 0 to %d, or the right --nnodes", r.Nodes-1),
		}
	}
	r.NodeRank = rank.value
	r.because("node rank %d of %d from %s", r.NodeRank, r.Nodes, rank.from)
	return nil
}
