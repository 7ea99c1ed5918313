package doctor

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"testing"

	"lenslaunch/internal/address"
	"lenslaunch/internal/port"
)

// resolving is a network in which one name has one address.
func resolving(name, addr string) address.Network {
	n := address.System()
	n.Routed = func(netip.Addr) bool { return true }
	n.Lookup = func(_ context.Context, asked string) ([]netip.Addr, error) {
		if asked != name || addr == "" {
			return nil, errors.New("no such name")
		}
		return []netip.Addr{netip.MustParseAddr(addr)}, nil
	}
	return n
}

func TestNames(t *testing.T) {
	s := subject()
	expect(t, names(t.Context(), s), Good, "one node")
	s.Nodes, s.Hosts = 2, []string{"n1", "n2"}
	for _, test := range []struct {
		rank  int
		addr  string
		hosts []string
		given string
		level Level
		found string
	}{
		{1, "192.0.2.7", []string{"n1", "n2"}, "", Good, "master address 192.0.2.7: n1 as it resolves here"},
		{0, "192.0.2.7", []string{"n1", "n2"}, "", Warning, "this is node 0, which does not have that address"},
		{1, "", []string{"n1", "n2"}, "", Problem, "the head's name n1 does not resolve here"},
		{0, "127.0.1.1", []string{"n1", "n2"}, "", Problem, "resolves to 127.0.1.1 here, which no other node reaches"},
		{1, "192.0.2.7", nil, "head.train", Good, "the head head.train is 192.0.2.7"},
		{1, "", nil, "head.train", Problem, "the head head.train does not resolve here"},
		{1, "127.0.0.1", nil, "head.train", Problem, "which is this host alone"},
		{0, "127.0.1.1", nil, "head.train", Warning, "which no other host reaches"},
	} {
		s.NodeRank, s.Hosts, s.MasterAddr = test.rank, test.hosts, test.given
		s.Network = resolving("n1", test.addr)
		if test.given != "" {
			s.Network = resolving(test.given, test.addr)
		}
		expect(t, names(t.Context(), s), test.level, test.found)
	}
}

// Name servers that say nothing, for as long as one asks.
func TestNameServersThatAreSilent(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel() // the time is over
	s := subject()
	s.Nodes, s.NodeRank, s.Hosts = 2, 1, []string{"n1", "n2"}
	bounded := false
	s.Network.Lookup = func(ctx context.Context, _ string) ([]netip.Addr, error) {
		_, bounded = ctx.Deadline()
		<-ctx.Done()
		return nil, ctx.Err()
	}
	expect(t, names(ctx, s), Problem, "no name server answers for the head n1")
	s.Hosts, s.MasterAddr = nil, "train-0.train"
	expect(t, names(ctx, s), Problem, "no name server answers for the head train-0.train")
	if !bounded {
		t.Error("a lookup may take any time")
	}
	s.Unplaced = true
	expect(t, names(ctx, s), Note, "where this node stands is not known")
}

// The name of the head that leads to this host, which is another one.
func TestNameOfTheHeadLeadsHere(t *testing.T) {
	for _, own := range ownAddresses() {
		if own.IsLoopback() || own.IsLinkLocalUnicast() {
			continue
		}
		s := subject()
		s.Nodes, s.NodeRank, s.Hosts, s.Network = 2, 1, []string{"n1", "n2"}, resolving("n1", own.String())
		expect(t, names(t.Context(), s), Problem, "which is this host, but this is node 1")
		s.NodeRank = 0
		expect(t, names(t.Context(), s), Good, own.String())
		return
	}
	t.Log("this host has no address but loopback: the rule is tested where it has")
}

func TestPorts(t *testing.T) {
	held, err := port.Reserve(port.Default(), 1)
	if err != nil {
		t.Fatal(err)
	}
	s := subject()
	s.MasterPort = held.Port()
	expect(t, ports(t.Context(), s), Problem, "cannot reserve port")
	s.NodeRank = 1
	expect(t, ports(t.Context(), s), Good, "node 0 has the port")
	s.NodeRank = 0
	held.Close()
	expect(t, ports(t.Context(), s), Good, "is free")
	s.MasterPort = 0
	expect(t, ports(t.Context(), s), Good, "there are free ports in 20000-29999")
	local, known := port.Ephemeral()
	if !known {
		t.Fatal("no ephemeral range")
	}
	s.PortRange = local
	if list := ports(t.Context(), s); len(list) != 2 || list[0].Level != Warning || list[1].Level != Good {
		t.Errorf("%+v", list)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	n := l.Addr().(*net.TCPAddr).Port
	s.PortRange = port.Range{First: n, Last: n}
	if list := ports(t.Context(), s); !Fails(list) {
		t.Errorf("%+v", list)
	}
}
