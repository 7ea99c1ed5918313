package address

import (
	"context"
	"errors"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestLookupOfAnAddress(t *testing.T) {
	for text, want := range map[string]string{"10.0.0.1": "10.0.0.1", "::ffff:10.0.0.1": "10.0.0.1", "fd00::1": "fd00::1"} {
		list, err := Lookup(t.Context(), text)
		if err != nil || len(list) != 1 || list[0].String() != want {
			t.Errorf("%s: %v, %v", text, list, err)
		}
	}
}

func TestLookupOfLocalhost(t *testing.T) {
	list, err := Lookup(t.Context(), "localhost")
	if err != nil || !loopback(list) {
		t.Errorf("%v, %v", list, err)
	}
}

func TestLookupOfANameThatIsNone(t *testing.T) {
	for _, name := range []string{"no-such-host.invalid", "-x", ""} {
		if list, err := Lookup(t.Context(), name); err == nil {
			t.Errorf("%q: %v", name, list)
		}
	}
}

func TestParseAhosts(t *testing.T) {
	got := parseAhosts("10.0.0.1        STREAM n1\n10.0.0.1        DGRAM  \n::ffff:10.0.0.2 RAW\nfd00::1 STREAM\ngarbage\n\n")
	want := []netip.Addr{netip.MustParseAddr("10.0.0.1"), netip.MustParseAddr("10.0.0.2"), netip.MustParseAddr("fd00::1")}
	if !slices.Equal(got, want) {
		t.Errorf("%v", got)
	}
}

func FuzzParseAhosts(f *testing.F) {
	f.Add("10.0.0.1 STREAM n1\n")
	f.Fuzz(func(t *testing.T, text string) {
		for _, a := range parseAhosts(text) {
			if !a.IsValid() || a.Is4In6() {
				t.Errorf("%v", a)
			}
		}
	})
}

func TestInterfaces(t *testing.T) {
	if _, err := byName("nosuch0"); err == nil || !strings.Contains(err.Error(), `no interface "nosuch0": it has `) {
		t.Errorf("%v", err)
	}
	if list, err := byName("lo"); err == nil {
		t.Errorf("loopback is no way to others: %v", list)
	}
}

func TestRouted(t *testing.T) {
	if !routed(netip.MustParseAddr("127.0.0.1")) {
		t.Error("no way to this host itself")
	}
}

// A name that comes later is waited for, with one message, and asked for ever less often.
func TestAwait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began, asked, told := time.Now(), 0, 0
		net := Network{Lookup: func(context.Context, string) ([]netip.Addr, error) {
			asked++
			if time.Since(began) < 40*time.Second {
				return nil, errors.New("no such name")
			}
			return []netip.Addr{netip.MustParseAddr("10.0.0.1")}, nil
		}}
		list, err := net.Await(t.Context(), "h", func(error) { told++ })
		if err != nil || len(list) != 1 || told != 1 || asked < 6 || asked > 10 {
			t.Errorf("%v, %v: asked %d times, told %d times", list, err, asked, told)
		}
	})
}

func TestAwaitEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		cause := errors.New("no such name")
		net := Network{Lookup: func(context.Context, string) ([]netip.Addr, error) { return nil, cause }}
		if _, err := net.Await(ctx, "h", nil); !errors.Is(err, cause) {
			t.Errorf("%v", err)
		}
	})
}
