package launcher

import (
	"context"
	"errors"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"lenslaunch/internal/address"
	"lenslaunch/internal/port"
	"lenslaunch/ranks"
)

// names is a network in which these names resolve.
func names(pairs ...string) *address.Network {
	n := address.System()
	n.Routed = func(netip.Addr) bool { return true }
	n.Lookup = func(_ context.Context, name string) ([]netip.Addr, error) {
		for i := 0; i < len(pairs); i += 2 {
			if pairs[i] == name {
				return []netip.Addr{netip.MustParseAddr(pairs[i+1])}, nil
			}
		}
		return nil, errors.New("no such name")
	}
	return &n
}

// stepDraft is node r of two in step k of Slurm job 7.
func stepDraft(t *testing.T, r int, k string) *draft {
	d := newDraft(t, 2)
	d.RunID = ""
	d.World = ranks.World{Nodes: 2, NodeRank: r, LocalSize: 2, Scheduler: "slurm", Hosts: []string{"n1", "n2"}, InStep: true}
	d.Facts.Network = names("n1", "10.0.0.1", "n2", "10.0.0.2")
	return d.with("SLURM_JOB_ID=7", "SLURM_CLUSTER_NAME=lab", "SLURM_STEP_ID="+k, "SLURM_STEP_NODELIST=n[1-2]", "SLURM_NODEID="+string(rune('0'+r)))
}

// nextOf is the attempt that a run of the draft would begin.
func nextOf(t *testing.T, d *draft) (*Plan, Attempt) {
	t.Helper()
	p := d.plan(t)
	a, err := p.NextAttempt()
	if err != nil {
		t.Fatal(err)
	}
	return p, a
}

// All nodes of a step arrive at the same without a message, and no two steps share it.
func TestNodesOfAStepAgree(t *testing.T) {
	seen := map[string]bool{}
	for _, env := range [][]string{{}, {"SLURM_RESTART_COUNT=1"}, {"SLURM_RESTART_COUNT=2"}} {
		for _, k := range []string{"0", "1", "2"} {
			p0, head := nextOf(t, stepDraft(t, 0, k).with(env...))
			p1, peer := nextOf(t, stepDraft(t, 1, k).with(env...))
			if head.UUID != peer.UUID || head.MasterPort != peer.MasterPort || *head.RestartCount != *peer.RestartCount || head.Number != 0 {
				t.Errorf("%v, step %s: %+v and %+v", env, k, head, peer)
			}
			if p0.World.MasterAddr != "10.0.0.1" || p1.World.MasterAddr != "10.0.0.1" || p0.LedgerDir != "" {
				t.Errorf("addresses %s and %s, ledger %q", p0.World.MasterAddr, p1.World.MasterAddr, p0.LedgerDir)
			}
			if !port.Default().Contains(head.MasterPort) || seen[head.UUID] {
				t.Errorf("%v, step %s: port %d, seen %v", env, k, head.MasterPort, seen[head.UUID])
			}
			if !slices.Contains(p1.Why, "master address 10.0.0.1: n1 as it resolves here") {
				t.Errorf("%q", p1.Why)
			}
			seen[head.UUID] = true
		}
	}
}

// What Slurm has reserved for the step comes first; a later attempt has a port of its own.
func TestReservedPortOfAStep(t *testing.T) {
	d := stepDraft(t, 1, "0")
	d.World.StepPort = 12002
	if _, a := nextOf(t, d); a.MasterPort != 12002 {
		t.Errorf("port %d", a.MasterPort)
	}
	if _, a := nextOf(t, d.with("LENSLAUNCH_RESTART_COUNT=1")); a.MasterPort == 12002 || a.Number != 1 {
		t.Errorf("attempt %d, port %d", a.Number, a.MasterPort)
	}
	d.World.MasterPort = 29500
	if _, a := nextOf(t, d); a.MasterPort != 29500 {
		t.Errorf("a port that was named: %d", a.MasterPort)
	}
}

// A head that has no address is shown by `lenslaunch env`, and refused by a run.
func TestHeadWithoutAnAddress(t *testing.T) {
	for found, want := range map[string]string{
		"":          "the head's name n1 does not resolve here: give --master-addr A",
		"127.0.1.1": "the head's name n1 resolves to 127.0.1.1 here, which no other node reaches: give --master-addr A (an address of the head that all nodes reach), or --iface NAME",
	} {
		d := stepDraft(t, 1, "0")
		d.Facts.Network = names("n2", "10.0.0.2")
		if found != "" {
			d.Facts.Network = names("n1", found, "n2", "10.0.0.2")
		}
		p := d.plan(t)
		var failure *Failure
		if err := p.Reachable(); !errors.As(err, &failure) || failure.Code != ExitUsage || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v", found, err)
		}
		if p.World.MasterAddr != "n1" {
			t.Errorf("shown as %q", p.World.MasterAddr)
		}
	}
	d := stepDraft(t, 0, "0")
	d.Facts.Network = names("n1", "127.0.0.1", "n2", "127.0.0.1")
	if p := d.plan(t); p.Reachable() != nil || p.World.MasterAddr != "127.0.0.1" {
		t.Errorf("all on one host: %v, %s", p.Reachable(), p.World.MasterAddr)
	}
	d = stepDraft(t, 0, "0")
	d.Iface = "nosuch0"
	if err := d.plan(t).Reachable(); err == nil || !strings.HasPrefix(err.Error(), "cannot use --iface nosuch0: ") {
		t.Errorf("%v", err)
	}
}

func TestPortsThatOverlap(t *testing.T) {
	local, known := port.Ephemeral()
	if !known {
		t.Fatal("no ephemeral range")
	}
	warned := func(d *draft) bool {
		return slices.ContainsFunc(d.plan(t).Warnings, func(w string) bool { return strings.Contains(w, "overlaps this host's ephemeral ports") })
	}
	d := stepDraft(t, 0, "0")
	d.PortRange = port.Range{First: local.First, Last: local.First + 100}
	if !warned(d) {
		t.Error("the head is not warned")
	}
	d.World.StepPort = 12002
	if warned(d) {
		t.Error("warned although Slurm has reserved a port")
	}
	d = newDraft(t, 1)
	d.PortRange = local
	if warned(d) {
		t.Error("one node reserves what is free")
	}
}

// The holder of the port that the nodes agree on is named, and the run may be run again.
func TestPortOfTheStepIsTaken(t *testing.T) {
	d := stepDraft(t, 0, "0")
	p, a := nextOf(t, d)
	// If somebody else has it, it is taken as well.
	if held, err := port.ReserveFixed(a.MasterPort, 1); err == nil {
		defer held.Close()
	}
	e := &effects{plan: p, ctx: t.Context()}
	failure := e.reserve(&running{number: 1}, nil)
	if failure == nil || failure.Code != ExitTryAgain || !strings.Contains(failure.Error(), "every step has a port of its own") {
		t.Errorf("%v", failure)
	}
	// Another node only says where it is.
	p, _ = nextOf(t, stepDraft(t, 1, "0"))
	run := &running{number: 1}
	if failure := (&effects{plan: p, ctx: t.Context()}).reserve(run, nil); failure != nil || run.attempt.MasterPort != a.MasterPort || run.port != nil {
		t.Errorf("%v, port %d", failure, run.attempt.MasterPort)
	}
}

// podDraft is node r of two in a pod.
func podDraft(t *testing.T, r int) *draft {
	d := newDraft(t, 1)
	d.World = ranks.World{Nodes: 2, NodeRank: r, LocalSize: 1, Scheduler: "kubernetes", MasterAddr: "train-0.train", MasterPort: 29500}
	return d
}

// awaited runs awaitHead beside a reader of its messages.
func awaited(t *testing.T, d *draft, during func(run *running, in inHeadAwaited)) *Failure {
	t.Helper()
	inputs, done := make(chan input), make(chan struct{})
	e := &effects{plan: d.plan(t), ctx: t.Context(), inputs: inputs, done: done}
	run := &running{number: 1, abort: make(chan struct{})}
	answer := make(chan *Failure, 1)
	go func() { answer <- e.awaitHead(run) }()
	for {
		select {
		case in := <-inputs:
			during(run, in.(inHeadAwaited))
		case failure := <-answer:
			return failure
		case <-time.After(patience):
			t.Fatal("it waits for ever")
		}
	}
}

func TestAwaitHead(t *testing.T) {
	unexpected := func(*running, inHeadAwaited) { t.Error("it waits") }
	for name, change := range map[string]func(*draft){
		"the head itself":    func(d *draft) { d.World.NodeRank = 0 },
		"an address":         func(d *draft) { d.World.MasterAddr = "10.0.0.1" },
		"not in a pod":       func(d *draft) { d.World.Scheduler = "" },
		"a name that is one": func(d *draft) { d.Facts.Network = names("train-0.train", "10.0.0.9") },
	} {
		d := podDraft(t, 1)
		d.Facts.Network = names()
		change(d)
		if failure := awaited(t, d, unexpected); failure != nil {
			t.Errorf("%s: %v", name, failure)
		}
	}
	// A stop signal ends the wait.
	d := podDraft(t, 1)
	d.Facts.Network = names()
	told := 0
	failure := awaited(t, d, func(run *running, in inHeadAwaited) {
		told++
		if in.name != "train-0.train" || in.cause == nil || in.attempt != 1 {
			t.Errorf("%+v", in)
		}
		close(run.abort)
	})
	if told != 1 || failure == nil || failure.Code != ExitTryAgain || !strings.Contains(failure.Error(), "train-0.train does not resolve") {
		t.Errorf("told %d times: %v", told, failure)
	}
}
