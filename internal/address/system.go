package address

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"os/exec"
	"slices"
	"strings"
	"time"
)

// System is this host's network.
func System() Network {
	return Network{Lookup: Lookup, Interface: byName, Routed: routed}
}

// getentTime bounds what a name service of the C library may take.
const getentTime = 5 * time.Second

// Lookup returns all addresses of a name or of an address itself, both families, in
// the resolver's order of preference.
func Lookup(ctx context.Context, name string) ([]netip.Addr, error) {
	if a, err := netip.ParseAddr(name); err == nil {
		return []netip.Addr{a.Unmap()}, nil
	}
	list, err := net.DefaultResolver.LookupNetIP(ctx, "ip", name)
	if err != nil {
		if list = getent(ctx, name); len(list) == 0 {
			return nil, err
		}
	}
	return plain(list), nil
}

// plain writes IPv4 addresses as such and names each address once.
func plain(list []netip.Addr) []netip.Addr {
	var out []netip.Addr
	for _, a := range list {
		if a = a.Unmap(); !slices.Contains(out, a) {
			out = append(out, a)
		}
	}
	return out
}

// getent asks the C library, which knows name services that Go's resolver does not.
func getent(ctx context.Context, name string) []netip.Addr {
	if strings.HasPrefix(name, "-") {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, getentTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, "getent", "ahosts", name)
	cmd.WaitDelay = time.Second
	text, err := cmd.Output()
	if err != nil {
		return nil // there is none, or it does not know either
	}
	return parseAhosts(string(text))
}

// parseAhosts reads what `getent ahosts` prints: lines of an address, a kind of
// socket and perhaps a name.
func parseAhosts(text string) []netip.Addr {
	var list []netip.Addr
	for line := range strings.Lines(text) {
		word, _, _ := strings.Cut(strings.TrimSpace(line), " ")
		if a, err := netip.ParseAddr(word); err == nil {
			list = append(list, a)
		}
	}
	return plain(list)
}

// byName returns the addresses of an interface, IPv4 first.
func byName(name string) ([]netip.Prefix, error) {
	iface, err := net.InterfaceByName(name)
	if err != nil {
		return nil, fmt.Errorf("this host has no interface %q: it has %s", name, strings.Join(interfaces(), ", "))
	}
	addrs, err := iface.Addrs()
	if err != nil {
		return nil, fmt.Errorf("cannot read the addresses of %s: %w", name, err)
	}
	var list []netip.Prefix
	for _, a := range addrs {
		if p, err := netip.ParsePrefix(a.String()); err == nil {
			list = append(list, p)
		}
	}
	if !slices.ContainsFunc(list, func(p netip.Prefix) bool { return usable(p.Addr()) }) {
		return nil, fmt.Errorf("the interface %s has no address that others reach", name)
	}
	slices.SortStableFunc(list, func(a, b netip.Prefix) int { return a.Addr().BitLen() - b.Addr().BitLen() })
	return list, nil
}

func interfaces() []string {
	list, err := net.Interfaces()
	if err != nil || len(list) == 0 {
		return []string{"none"}
	}
	var names []string
	for _, i := range list {
		names = append(names, i.Name)
	}
	return names
}

// routed asks the kernel for a way to an address. Connecting a datagram socket sends
// nothing.
func routed(a netip.Addr) bool {
	const discard = 9
	conn, err := net.Dial("udp", netip.AddrPortFrom(a, discard).String())
	if err != nil {
		return false
	}
	conn.Close()
	return true
}
