package ranks

import (
	"fmt"
	"math"
	"strings"
)

// Resolve decides the world of this launcher from its flags, the scheduler's
// variables in env (an absent key is an unset variable) and the facts of the
// host. Flags win over the scheduler, the scheduler over defaults. Every error
// is a [*UsageError].
func Resolve(req Request, env map[string]string) (World, error) {
	w := World{}
	for _, decide := range []func(*World, *Request, map[string]string) error{
		decideLocalSize, decideScheduler, decideNodes, decideMaster, checkSeveralNodes,
	} {
		if err := decide(&w, &req, env); err != nil {
			return World{}, err
		}
	}
	return w, nil
}

// decideNodes settles how many nodes there are and which one this is. A
// scheduler that knew better has filled w.Nodes by now.
func decideNodes(w *World, req *Request, _ map[string]string) error {
	switch {
	case req.NNodes != nil:
		if w.Nodes = *req.NNodes; w.Nodes < 1 {
			return &UsageError{fmt.Sprintf("%s is %d", req.from("--nnodes"), w.Nodes), "give the number of nodes, 1 or more"}
		}
		w.because("%s from %s", counted(w.Nodes, "node"), req.from("--nnodes"))
	case w.Nodes == 0:
		w.Nodes = 1
		w.because("1 node from default")
	}
	source := "default"
	if req.NodeRank != nil {
		w.NodeRank, source = *req.NodeRank, req.from("--node-rank")
		if w.NodeRank < 0 || w.NodeRank >= w.Nodes {
			return &UsageError{
				fmt.Sprintf("%s is %d, outside the %s", source, w.NodeRank, counted(w.Nodes, "node")),
				fmt.Sprintf("give a node rank from 0 to %d, or the right --nnodes", w.Nodes-1),
			}
		}
	}
	if w.Nodes == 1 || req.NodeRank != nil { // else it is missing: see checkSeveralNodes
		w.because("node rank %d of %d from %s", w.NodeRank, w.Nodes, source)
	}
	// No bound of taste, only that WorldSize and Rank stay numbers.
	if w.LocalSize > math.MaxInt/w.Nodes {
		return &UsageError{
			fmt.Sprintf("%d local ranks on %d nodes are more than can be counted", w.LocalSize, w.Nodes),
			"give a smaller --nproc or --nnodes",
		}
	}
	return nil
}

// decideMaster settles where rank 0's store listens.
func decideMaster(w *World, req *Request, _ map[string]string) error {
	w.MasterAddr, w.MasterPort = req.MasterAddr, req.MasterPort
	addr, port := req.from("--master-addr"), req.from("--master-port")
	if w.MasterPort < 0 || w.MasterPort > math.MaxUint16 {
		return &UsageError{fmt.Sprintf("%s is %d", port, w.MasterPort), "give a port from 1 to 65535"}
	}
	// One colon is host:port (IPv6 has two at least). Left in, every rank would
	// wait a long time for a name that does not exist.
	if strings.Count(w.MasterAddr, ":") == 1 || strings.ContainsAny(w.MasterAddr, " \t\r\n") {
		return &UsageError{
			fmt.Sprintf("%s is %q, which is no host", addr, w.MasterAddr),
			"give a name or an address alone, and the port with --master-port",
		}
	}
	if w.MasterAddr != "" {
		w.because("master address %s from %s", shown(w.MasterAddr), addr)
	} else if w.Nodes == 1 {
		w.MasterAddr = "127.0.0.1"
		w.because("master address 127.0.0.1 from default")
	}
	if w.MasterPort != 0 {
		w.because("master port %d from %s", w.MasterPort, port)
	} else if w.Nodes == 1 {
		w.because("master port reserved for each attempt")
	}
	return nil
}

// checkSeveralNodes holds separate launchers to what they cannot find out from
// each other. (Cluster specification, "Without a scheduler".)
func checkSeveralNodes(w *World, req *Request, _ map[string]string) error {
	if w.Nodes == 1 {
		return nil
	}
	// All at once: a person should not find out flag by flag.
	var missing []string
	need := func(given bool, flag string) {
		if !given {
			missing = append(missing, flag)
		}
	}
	need(req.NodeRank != nil, fmt.Sprintf("--node-rank R (0 to %d)", w.Nodes-1))
	need(req.MasterAddr != "", "--master-addr A (a name of node 0)")
	need(req.MasterPort != 0, "--master-port P (free on node 0)")
	need(req.HasRunID, "--run-id ID (the same on all nodes, a new one for every start)")
	if len(missing) > 0 {
		return &UsageError{
			fmt.Sprintf("%d nodes cannot find each other", w.Nodes),
			"also give, on every node, " + strings.Join(missing, ", "),
		}
	}
	// A restart on one node would meet the old ranks of the others, and every rank
	// would hang in its first collective.
	if req.MaxRestarts > 0 {
		return &UsageError{
			fmt.Sprintf("%s is %d with %d nodes, but nothing tells the other nodes when one of them restarts",
				req.from("--max-restarts"), req.MaxRestarts, w.Nodes),
			"use --max-restarts 0 and start all nodes again, each time with a new --run-id",
		}
	}
	return nil
}
