package address

import (
	"context"
	"errors"
	"net/netip"
	"strings"
	"testing"
)

// network answers from tables.
type network struct {
	names  map[string]string // addresses, by spaces
	ifaces map[string]string // prefixes
	lost   string            // addresses without a route
}

func (n network) build() Network {
	return Network{
		Lookup: func(_ context.Context, name string) ([]netip.Addr, error) {
			text, known := n.names[name]
			if !known {
				return nil, errors.New("no such name")
			}
			var list []netip.Addr
			for _, word := range strings.Fields(text) {
				list = append(list, netip.MustParseAddr(word))
			}
			return list, nil
		},
		Interface: func(name string) ([]netip.Prefix, error) {
			text, known := n.ifaces[name]
			if !known {
				return nil, errors.New("no such interface")
			}
			var list []netip.Prefix
			for _, word := range strings.Fields(text) {
				list = append(list, netip.MustParsePrefix(word))
			}
			return list, nil
		},
		Routed: func(a netip.Addr) bool { return !strings.Contains(" "+n.lost+" ", " "+a.String()+" ") },
	}
}

func TestHead(t *testing.T) {
	for name, test := range map[string]struct {
		net   network
		iface string
		self  bool
		want  string // the address, or part of the error
		why   string
	}{
		"as the name resolves": {network{names: map[string]string{"h": "10.0.0.1"}}, "", false, "10.0.0.1", "h as it resolves here"},
		"loopback is skipped":  {network{names: map[string]string{"h": "127.0.1.1 10.0.0.1"}}, "", true, "10.0.0.1", ""},
		"both families":        {network{names: map[string]string{"h": "::1 fd00::1"}}, "", false, "fd00::1", ""},
		"a family without a route": {
			network{names: map[string]string{"h": "192.0.2.1 fd00::1"}, lost: "192.0.2.1"}, "", false, "fd00::1", "",
		},
		"link-local needs a zone": {network{names: map[string]string{"h": "fe80::1 169.254.3.3 10.0.0.1"}}, "", false, "10.0.0.1", ""},
		"all nodes are this host": {
			network{names: map[string]string{"h": "127.0.0.1", "i": "127.0.0.1", "j": "::1"}}, "", false, "127.0.0.1", "with all nodes on this host",
		},
		"the head alone is loopback": {
			network{names: map[string]string{"h": "127.0.1.1", "i": "10.0.0.2", "j": "10.0.0.3"}}, "", true,
			"the head's name h resolves to 127.0.1.1 here, which no other node reaches", "",
		},
		"a peer that does not resolve is no proof": {
			network{names: map[string]string{"h": "127.0.1.1", "i": "127.0.1.1"}}, "", true, "resolves to 127.0.1.1 here", "",
		},
		"no name":  {network{}, "", false, "the head's name h does not resolve here", ""},
		"no route": {network{names: map[string]string{"h": "10.0.0.1 fd00::1"}, lost: "10.0.0.1 fd00::1"}, "", false, "10.0.0.1, fd00::1 here, and this host has no way there", ""},
		"the head's own interface": {
			network{names: map[string]string{"h": "127.0.1.1"}, ifaces: map[string]string{"ib0": "fe80::7/64 10.2.0.1/16"}}, "ib0", true, "10.2.0.1", "of the interface ib0",
		},
		"the network of the interface": {
			network{names: map[string]string{"h": "10.1.0.1 10.2.0.1"}, ifaces: map[string]string{"ib0": "10.2.0.2/16"}}, "ib0", false, "10.2.0.1", "in the network of ib0",
		},
		"a name of another network only": {
			network{names: map[string]string{"h": "10.1.0.1"}, ifaces: map[string]string{"ib0": "10.2.0.2/16"}}, "ib0", false, "10.1.0.1", "",
		},
		"no such interface": {network{names: map[string]string{"h": "10.1.0.1"}}, "ib9", false, "no such interface", ""},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := test.net.build().Head(t.Context(), []string{"h", "i", "j"}, test.iface, test.self)
			if err != nil {
				if !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "\n") {
					t.Errorf("%v, want %q", err, test.want)
				}
				return
			}
			if got.Addr.String() != test.want || !strings.Contains(got.Why, test.why) || !strings.HasPrefix(got.Why, "master address "+test.want+": ") {
				t.Errorf("%v (%s), want %s (%s)", got.Addr, got.Why, test.want, test.why)
			}
		})
	}
}

func TestErrorHoldsItsCause(t *testing.T) {
	cause := errors.New("no such name")
	_, err := Network{Lookup: func(context.Context, string) ([]netip.Addr, error) { return nil, cause }}.Head(t.Context(), []string{"h"}, "", false)
	if !errors.Is(err, cause) {
		t.Errorf("%v", err)
	}
}
