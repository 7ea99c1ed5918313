package ranks

import (
	"fmt"
	"math"
	"net/netip"
	"strings"
)

// decideAddress settles where rank 0's store is reached, as far as that can be told
// without looking a name up.
func (r *resolver) decideAddress() error {
	from := r.req.from("--master-addr")
	switch {
	case r.req.MasterAddr != "":
		r.MasterAddr = r.req.MasterAddr
	case r.Nodes == 1:
		r.MasterAddr, from = "127.0.0.1", "default"
	case r.said.addr != "":
		r.MasterAddr, from = r.said.addr, r.said.addrFrom
	default:
		return nil
	}
	// One colon is host:port, more are IPv6 or nothing. Left in, every rank would
	// wait a long time for a name that does not exist.
	_, err := netip.ParseAddr(r.MasterAddr)
	if err != nil && strings.ContainsAny(r.MasterAddr, ": \t\r\n[]") {
		return &UsageError{
			fmt.Sprintf("%s is %q, which is no host", from, clip(r.MasterAddr, 64)),
			"give a name or an address alone, and the port with --master-port",
		}
	}
	r.because("master address %s from %s", shown(r.MasterAddr), from)
	return nil
}

// decidePort settles on which port it listens.
func (r *resolver) decidePort() error {
	port := fact{r.req.MasterPort, r.req.from("--master-port")}
	if port.value == 0 && r.Nodes > 1 && r.said.port.known() {
		port = r.said.port
	}
	if port.value < 0 || port.value > math.MaxUint16 {
		return &UsageError{fmt.Sprintf("%s is %d", port.from, port.value), "give a port from 1 to 65535"}
	}
	r.MasterPort = port.value
	switch {
	case r.MasterPort != 0:
		r.StepPort = 0
		r.because("master port %d from %s", r.MasterPort, port.from)
	case r.Nodes == 1:
		r.because("master port reserved for each attempt")
	case r.StepPort != 0 && r.said.derives:
		r.because("master port %d from SLURM_STEP_RESV_PORTS, for attempt 0", r.StepPort)
	case r.said.derives:
		r.because("master port derived from the attempt UUID, within --port-range")
	}
	return nil
}

// checkSeveralNodes holds separate launchers to what they cannot find out from
// each other. (Cluster specification, "Without a scheduler".)
func (r *resolver) checkSeveralNodes() error {
	if r.Nodes == 1 {
		// Ports are free to be chosen here; those of the step stay unused.
		r.StepPort = 0
		return nil
	}
	// All at once: a person should not find out flag by flag.
	var missing []string
	need := func(given bool, flag string) {
		if !given {
			missing = append(missing, flag)
		}
	}
	need(r.req.NodeRank != nil || r.said.rank.known(), fmt.Sprintf("--node-rank R (0 to %d)", r.Nodes-1))
	need(r.MasterAddr != "" || r.said.head != "", "--master-addr A (a name of node 0)")
	need(r.MasterPort != 0 || r.said.derives, "--master-port P (free on node 0)")
	need(r.req.HasRunID, "--run-id ID (the same on all nodes, a new one for every start)")
	if len(missing) > 0 {
		return &UsageError{
			fmt.Sprintf("%d nodes cannot find each other", r.Nodes),
			"also give, on every node, " + strings.Join(missing, ", "),
		}
	}
	// A restart on one node would meet the old ranks of the others, and every rank
	// would hang in its first collective.
	if r.req.MaxRestarts > 0 {
		return &UsageError{
			fmt.Sprintf("%s is %d with %d nodes, but nothing tells the other nodes when one of them restarts",
				r.req.from("--max-restarts"), r.req.MaxRestarts, r.Nodes),
			"use --max-restarts 0 and " + r.restartHint(),
		}
	}
	return nil
}

// restartHint says what restarts several nodes here.
func (r *resolver) restartHint() string {
	switch r.Scheduler {
	case "slurm":
		return "a new step for every attempt: the loop of srun in examples/slurm/train.sbatch"
	case "kubernetes":
		return "let the JobSet or the Job start all pods again, as in examples/kubernetes"
	}
	return "start all nodes again, each time with a new --run-id"
}
