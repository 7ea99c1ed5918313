package doctor

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"time"

	"lenslaunch/internal/port"
)

// nameTime bounds what name servers may take to answer. With several of them and a list of
// domains to search a resolver goes on for minutes where none does.
const nameTime = 8 * time.Second

// names looks the head up both ways: its name as everybody does, and on the head itself
// whether the address is one of this host.
func names(ctx context.Context, s Subject) []Finding {
	if s.Unplaced {
		return one("names", Note, "look again once this node has a place", "not looked up: where this node stands is not known")
	}
	ctx, cancel := context.WithTimeout(ctx, nameTime)
	defer cancel()
	if s.Nodes < 2 {
		return one("names", Good, "", "one node: nobody has to find it")
	}
	if len(s.Hosts) > 0 && (s.MasterAddr == "" || s.MasterAddr == s.Hosts[0]) {
		found, err := s.Network.Head(ctx, s.Hosts, s.Iface, s.NodeRank == 0)
		if ctx.Err() != nil {
			return silent(s.Hosts[0])
		}
		if err != nil {
			return one("names", Problem, "give --master-addr A (an address of the head that all nodes reach) or --iface NAME, or mend the names of the nodes", "%v", err)
		}
		return backwards(ctx, s, []netip.Addr{found.Addr}, found.Why)
	}
	all, err := s.Network.Lookup(ctx, s.MasterAddr)
	if err != nil && ctx.Err() != nil {
		return silent(s.MasterAddr)
	}
	if err != nil || len(all) == 0 {
		return one("names", Problem, "give the address instead, or mend the name; in Kubernetes the head's pod must have an address, and its service publishNotReadyAddresses",
			"the head %s does not resolve here", s.MasterAddr)
	}
	return backwards(ctx, s, all, fmt.Sprintf("the head %s is %s", s.MasterAddr, all[0]))
}

// silent: nobody has answered for the name.
func silent(name string) []Finding {
	return one("names", Problem, "look at the name servers in /etc/resolv.conf, or give the head's address", "no name server answers for the head %s within %v", name, nameTime)
}

// backwards asks the other way: is this the host that has the head's address?
func backwards(_ context.Context, s Subject, head []netip.Addr, how string) []Finding {
	own := ownAddresses()
	here := slices.ContainsFunc(head, func(a netip.Addr) bool { return slices.Contains(own, a) })
	local := slices.ContainsFunc(head, func(a netip.Addr) bool { return a.IsLoopback() })
	switch {
	case len(own) == 0:
		return one("names", Note, "nothing, if the ranks find each other", "%s; this host's own addresses cannot be seen", how)
	case s.NodeRank == 0 && !here && !local:
		return one("names", Warning, "look at the order of the nodes, or give --master-addr", "%s, and this is node 0, which does not have that address (right only behind a translation of addresses)", how)
	case s.NodeRank != 0 && here && !local:
		return one("names", Problem, "look at /etc/hosts: the head's name must lead to the head", "%s, which is this host, but this is node %d", how, s.NodeRank)
	case s.NodeRank != 0 && local && len(s.Hosts) == 0:
		return one("names", Problem, "give an address that leads to node 0 from every node", "%s, which is this host alone", how)
	case s.NodeRank == 0 && local && len(s.Hosts) == 0:
		return one("names", Warning, "see what the other nodes say, or give an address that leads here from every node", "%s, which no other host reaches: the others must find another address by that name", how)
	}
	return one("names", Good, "", "%s", how)
}

func ownAddresses() (list []netip.Addr) {
	addrs, err := net.InterfaceAddrs()
	if err != nil {
		return nil
	}
	for _, a := range addrs {
		if p, err := netip.ParsePrefix(a.String()); err == nil {
			list = append(list, p.Addr().Unmap())
		}
	}
	return list
}

// ports reserves what the launch would reserve, and gives it back.
func ports(_ context.Context, s Subject) []Finding {
	if s.NodeRank != 0 {
		return one("ports", Good, "", "node 0 has the port")
	}
	if s.MasterPort != 0 {
		return fixedPort(s.MasterPort)
	}
	var list []Finding
	if local, known := port.Ephemeral(); known && s.PortRange.Overlaps(local) {
		list = one("ports", Warning, "use a --port-range below it, the same on all nodes", "--port-range %s overlaps the ephemeral ports %s", s.PortRange, local)
	}
	held, err := port.Reserve(s.PortRange, 1)
	if err != nil {
		return append(list, one("ports", Problem, "choose another --port-range", "%v", err)...)
	}
	held.Close()
	return append(list, one("ports", Good, "", "there are free ports in %s", s.PortRange)...)
}

func fixedPort(number int) []Finding {
	held, err := port.ReserveFixed(number, 1)
	if err != nil {
		var taken *port.InUseError
		if errors.As(err, &taken) {
			return one("ports", Problem, "end its holder, or use another port", "%v", err)
		}
		return one("ports", Problem, "use another port", "%v", err)
	}
	held.Close()
	return one("ports", Good, "", "port %d is free", number)
}
