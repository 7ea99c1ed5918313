package launcher

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/netip"
	"time"

	"lenslaunch/internal/address"
	"lenslaunch/internal/ledger"
	"lenslaunch/internal/port"
)

// Bounds of what several nodes wait for, which do not talk to each other.
const (
	headTime  = 15 * time.Second // for a name that must be known now, in a Slurm step
	headAwait = 10 * time.Minute // for a pod that may still be waiting for its node
)

// findHead turns the head's name, where the scheduler gave no more, into an address. A
// name that leads nowhere is kept for who wants to see the plan; Reachable refuses to
// carry it out.
func (p *Plan) findHead(ctx context.Context, network address.Network) {
	p.network = network
	p.warnOfPorts()
	if p.World.MasterAddr != "" {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, headTime)
	defer cancel()
	found, err := network.Head(ctx, p.World.Hosts, p.Iface, p.World.NodeRank == 0)
	if err != nil {
		p.World.MasterAddr = p.World.Hosts[0]
		p.unreachable = headFailure(err, p.Iface)
		p.Why = append(p.Why, "master address unknown: "+err.Error())
		return
	}
	p.World.MasterAddr = found.Addr.String()
	p.Why = append(p.Why, found.Why)
}

// headFailure says what to do about a head that has no address.
func headFailure(err error, iface string) *Failure {
	var none *address.Error
	if !errors.As(err, &none) {
		return usage(fmt.Sprintf("cannot use --iface %s: %v", iface, err), "name the interface of the nodes' network")
	}
	return usage(none.Error(), "give --master-addr A (an address of the head that all nodes reach), or --iface NAME (its interface in their network)")
}

// Reachable is the error of a plan whose ranks would not find each other.
func (p *Plan) Reachable() error {
	if p.unreachable == nil {
		return nil
	}
	return p.unreachable
}

// warnOfPorts tells of a derived port that this host may have given away already.
func (p *Plan) warnOfPorts() {
	if p.World.NodeRank != 0 || !p.derivesPort() || p.World.StepPort != 0 {
		return
	}
	if local, known := port.Ephemeral(); known && p.PortRange.Overlaps(local) {
		p.Warnings = append(p.Warnings, fmt.Sprintf("--port-range %s overlaps this host's ephemeral ports %s: a connection of another program may hold the port that the nodes agree on",
			p.PortRange, local))
	}
}

// derivesPort: several nodes agree on a port by what they all know.
func (p *Plan) derivesPort() bool {
	return p.World.Nodes > 1 && cmp.Or(p.MasterPort, p.World.MasterPort) == 0
}

// portOf is the port that an attempt must have, 0: any free one.
func (p *Plan) portOf(a Attempt) int {
	switch {
	case !p.derivesPort():
		return cmp.Or(p.MasterPort, p.World.MasterPort)
	case p.World.StepPort != 0 && a.Number == 0:
		return p.World.StepPort
	}
	return port.Derive(p.PortRange, a.UUID, neighbours)
}

// portsInRow is how many ports are held from the one that it must be. What the user or
// Slurm has named is one; what was derived has room behind it.
func (p *Plan) portsInRow() int {
	if p.derivesPort() && p.World.StepPort == 0 {
		return neighbours
	}
	return 1
}

// portAhead is portOf the attempt that comes. Of several nodes that is known before the
// ledger is asked, since they have none.
func (e *effects) portAhead() (int, *Failure) {
	if !e.plan.derivesPort() {
		return e.plan.portOf(Attempt{}), nil
	}
	next, err := e.plan.count(e.history(ledger.History{}))
	if err != nil {
		return 0, usage(err.Error(), "")
	}
	return e.plan.portOf(e.plan.number(next)), nil
}

// portTaken says what to do about a port that somebody else holds.
func (p *Plan) portTaken(err error) *Failure {
	hint := "end it, or leave --master-port out and a free port is reserved"
	switch {
	case p.derivesPort():
		hint = "end it, or run again: every step has a port of its own, within --port-range (the same on all nodes)"
	case p.MasterPort == 0:
		hint = "end it, or give another port to all nodes"
	}
	return &Failure{Code: ExitTryAgain, Problem: err.Error(), Hint: hint}
}

// awaitHead waits until the head's name resolves, where pods come and go: until then
// every rank would only spend its own time limit on it. It ends with the attempt.
func (e *effects) awaitHead(run *running) *Failure {
	w := e.plan.World
	if w.Scheduler != "kubernetes" || w.Nodes == 1 || w.NodeRank == 0 {
		return nil
	}
	if _, err := netip.ParseAddr(w.MasterAddr); err == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(e.ctx, headAwait)
	defer cancel()
	go func() {
		select {
		case <-run.abort:
			cancel()
		case <-ctx.Done():
		}
	}()
	_, err := e.plan.network.Await(ctx, w.MasterAddr, func(cause error) {
		e.answer(inHeadAwaited{at: time.Now(), attempt: run.number, name: w.MasterAddr, cause: cause})
	})
	if err != nil {
		return &Failure{Code: ExitTryAgain, Problem: fmt.Sprintf("the head's name %s does not resolve: %v", w.MasterAddr, err),
			Hint: "is the head's pod there, and its headless service?"}
	}
	return nil
}
