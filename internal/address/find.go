package address

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"strings"
)

// Network is what must be known of this host and its names.
type Network struct {
	// Lookup returns all addresses of a name, in the order of preference.
	Lookup func(ctx context.Context, name string) ([]netip.Addr, error)
	// Interface returns the addresses of one of this host's interfaces, with their
	// networks.
	Interface func(name string) ([]netip.Prefix, error)
	// Routed reports whether this host has a way to an address.
	Routed func(netip.Addr) bool
}

// Found is an address and why it is this one.
type Found struct {
	Addr netip.Addr
	Why  string // "master address 10.0.0.1: n1 as it resolves here"
}

// Head finds the address of hosts[0] for this host. self says that this host is the
// head; iface, if not empty, is the interface (of every host) that the traffic takes.
// The error is an [*Error], or that of a wrong iface.
func (n Network) Head(ctx context.Context, hosts []string, iface string, self bool) (Found, error) {
	var near []netip.Prefix
	if iface != "" {
		var err error
		if near, err = n.Interface(iface); err != nil {
			return Found{}, err
		}
		if own := slices.IndexFunc(near, func(p netip.Prefix) bool { return usable(p.Addr()) }); self && own >= 0 {
			return found(near[own].Addr(), "of the interface "+iface), nil
		}
	}
	name := hosts[0]
	all, err := n.Lookup(ctx, name)
	if err != nil {
		return Found{}, &Error{Name: name, Cause: err}
	}
	good := slices.DeleteFunc(slices.Clone(all), func(a netip.Addr) bool { return !usable(a) || !n.Routed(a) })
	for _, a := range good {
		if slices.ContainsFunc(near, func(p netip.Prefix) bool { return p.Contains(a) }) {
			return found(a, name+" as it resolves here, in the network of "+iface), nil
		}
	}
	switch {
	case len(good) > 0:
		return found(good[0], name+" as it resolves here"), nil
	case loopback(all) && n.oneHost(ctx, hosts):
		return found(all[0], name+" as it resolves here, with all nodes on this host"), nil
	}
	return Found{}, &Error{Name: name, Found: all}
}

func found(a netip.Addr, how string) Found {
	return Found{a, fmt.Sprintf("master address %s: %s", a, how)}
}

// usable: no other host has this address as its own loopback, and it needs no zone
// to be reached.
func usable(a netip.Addr) bool {
	return a.IsValid() && !a.IsLoopback() && !a.IsUnspecified() && !a.IsLinkLocalUnicast() && !a.IsMulticast()
}

// loopback: there are addresses, and all are this host's own.
func loopback(all []netip.Addr) bool {
	return len(all) > 0 && !slices.ContainsFunc(all, func(a netip.Addr) bool { return !a.IsLoopback() })
}

// oneHost reports whether every host of the job is this one by its name.
func (n Network) oneHost(ctx context.Context, hosts []string) bool {
	for _, host := range hosts[1:] {
		all, err := n.Lookup(ctx, host)
		if err != nil || !loopback(all) {
			return false
		}
	}
	return true
}

// Error says that no address of the head can be used here.
type Error struct {
	Name  string
	Found []netip.Addr // what it resolved to; none of them will do
	Cause error        // why the name did not resolve, nil if it did
}

func (e *Error) Error() string {
	if e.Cause != nil || len(e.Found) == 0 {
		return fmt.Sprintf("the head's name %s does not resolve here", e.Name)
	}
	words := make([]string, len(e.Found))
	for i, a := range e.Found {
		words[i] = a.String()
	}
	what := "which no other node reaches"
	if !loopback(e.Found) {
		what = "and this host has no way there"
	}
	return fmt.Sprintf("the head's name %s resolves to %s here, %s", e.Name, strings.Join(words, ", "), what)
}

// Unwrap is why the name did not resolve.
func (e *Error) Unwrap() error { return e.Cause }
