package port

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// machine stands for the kernel: it knows which ports are free and counts what
// is held, so that a leak of a descriptor shows.
type machine struct {
	taken map[int]bool
	held  map[int]bool
	fail  error
	binds int
}

func newMachine(taken ...int) *machine {
	m := &machine{taken: map[int]bool{}, held: map[int]bool{}}
	for _, port := range taken {
		m.taken[port] = true
	}
	return m
}

func (m *machine) bind(port int) (int, bool, error) {
	m.binds++
	if m.fail != nil {
		return -1, false, m.fail
	}
	if m.taken[port] || m.held[port] {
		return -1, true, nil
	}
	m.held[port] = true
	return port, false, nil
}

func (m *machine) release(fd int) { delete(m.held, fd) }

func TestSearch(t *testing.T) {
	none := Range{0, 0}
	for _, test := range []struct {
		name      string
		r         Range
		ephemeral Range
		taken     []int
		count     int
		want      []int // the only possible answer
	}{
		{"exact fit", Range{10, 12}, none, nil, 3, []int{10, 11, 12}},
		{"single port", Range{10, 10}, none, nil, 1, []int{10}},
		{"range smaller than the run", Range{10, 11}, none, nil, 3, []int{10, 11}},
		{"one run of three between holders", Range{10, 16}, none, []int{10, 12, 16}, 3, []int{13, 14, 15}},
		{"two in a row when three are not to be had", Range{10, 15}, none, []int{11, 14}, 3, []int{12, 13}},
		{"one when nothing longer is to be had", Range{10, 14}, none, []int{10, 12, 13, 14}, 3, []int{11}},
		{"outside the ephemeral range", Range{10, 21}, Range{13, 30}, nil, 3, []int{10, 11, 12}},
		{"shorter but outside", Range{10, 21}, Range{12, 30}, nil, 3, []int{10, 11}},
		{"run does not cross the ephemeral range", Range{10, 15}, Range{12, 13}, []int{14}, 2, []int{10, 11}},
		{"inside when nothing outside is free", Range{10, 15}, Range{13, 30}, []int{10, 11, 12}, 3, []int{13, 14, 15}},
		{"range wholly ephemeral", Range{10, 12}, Range{1, 65535}, nil, 3, []int{10, 11, 12}},
	} {
		t.Run(test.name, func(t *testing.T) {
			m := newMachine(test.taken...)
			res, err := search(test.r, test.ephemeral, test.count, m.bind, m.release)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, res.Ports()); diff != "" {
				t.Errorf("ports (-want +got):\n%s", diff)
			}
			if res.Port() != test.want[0] {
				t.Errorf("Port() = %d", res.Port())
			}
			if len(m.held) != len(test.want) {
				t.Errorf("held %v, want only %v", m.held, test.want)
			}
			res.Close()
			res.Close()
			if len(m.held) != 0 {
				t.Errorf("still held after Close: %v", m.held)
			}
		})
	}
}

func TestSearchExhausted(t *testing.T) {
	m := newMachine(10, 11, 12, 13)
	_, err := search(Range{10, 13}, Range{12, 20}, 3, m.bind, m.release)
	if err == nil {
		t.Fatal("no error though every port is taken")
	}
	for _, want := range []string{"cannot reserve a port", "all 4 ports", "10-13"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("error %q does not say %q", err, want)
		}
	}
}

// A machine out of descriptors must not be asked ten thousand times.
func TestSearchStopsAtAnErrorOfTheSystem(t *testing.T) {
	m := newMachine()
	m.fail = errors.New("too many open files")
	_, err := search(Default(), Range{0, 0}, 3, m.bind, m.release)
	if !errors.Is(err, m.fail) || !strings.HasPrefix(err.Error(), "cannot reserve port 2") {
		t.Errorf("error %v", err)
	}
	if m.binds != 1 {
		t.Errorf("%d binds after the first error", m.binds)
	}
}

func TestSearchReleasesAPartialRun(t *testing.T) {
	m := newMachine(12)
	res, err := run(10, 3, m.bind, m.release)
	if res != nil || err != nil || len(m.held) != 0 {
		t.Errorf("run = %v, %v, still held %v", res, err, m.held)
	}
}

// Launches that begin together must not walk the range in the same order.
func TestStartsAreRandomAndComplete(t *testing.T) {
	pieces := []Range{{100, 199}, {300, 301}, {400, 402}}
	first := slices.Collect(starts(pieces, 3))
	different := false
	for range 20 { // that all twenty begin and go on alike has no chance to speak of
		different = different || !slices.Equal(first, slices.Collect(starts(pieces, 3)))
	}
	if !different {
		t.Error("every search walks in the same order")
	}
	slices.Sort(first)
	var want []int
	for port := 100; port <= 197; port++ {
		want = append(want, port)
	}
	want = append(want, 400)
	if diff := cmp.Diff(want, first); diff != "" {
		t.Errorf("starts (-want +got):\n%s", diff)
	}
	for _, none := range [][]Range{nil, {{300, 301}}} {
		if got := slices.Collect(starts(none, 3)); len(got) != 0 {
			t.Errorf("starts(%v) = %v", none, got)
		}
	}
	if got := slices.Collect(starts([]Range{{7, 7}}, 1)); !slices.Equal(got, []int{7}) {
		t.Errorf("one place: %v", got)
	}
}
