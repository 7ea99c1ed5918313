package placement

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// short writes a plan without its reasons: CPUs, nodes and how many share.
func short(plan []Binding) []string {
	var out []string
	for _, b := range plan {
		out = append(out, fmt.Sprintf("%v @%v /%d", b.CPUs, CPUList(b.Nodes), b.Ranks))
	}
	return out
}

func TestPlan(t *testing.T) {
	tests := []struct {
		name string
		m    machine
		mode Mode
		gpus []int
		n    int
		want []string
	}{
		{"none", oneSocketSMT, None, nil, 2, []string{" @ /1", " @ /1"}},
		{"none needs no map", withoutMap, None, []int{0}, 1, []string{" @ /1"}},

		{"cores: siblings stay together", oneSocketSMT, Cores, nil, 2, []string{"0-1,4-5 @ /1", "2-3,6-7 @ /1"}},
		{"cores: siblings side by side", siblingsSide, Cores, nil, 2, []string{"0-3 @ /1", "4-7 @ /1"}},
		{"cores: one rank", oneSocketSMT, Cores, nil, 1, []string{"0-7 @ /1"}},
		{"cores: one each", oneSocketSMT, Cores, nil, 4, []string{"0,4 @ /1", "1,5 @ /1", "2,6 @ /1", "3,7 @ /1"}},
		{"cores: not divisible", noSMT, Cores, nil, 4, []string{"0 @ /1", "1-2 @ /1", "3 @ /1", "4-5 @ /1"}},
		{"cores: offline ones are left out", halfOffline, Cores, nil, 2, []string{"0,2,4 @ /1", "3,5 @ /1"}},
		{"cores: the allowed set", restricted, Cores, nil, 4, []string{"2-3 @ /1", "9-10 @ /1", "11-12 @ /1", "13-14 @ /1"}},
		{"cores: without a map of nodes", withoutMap, Cores, []int{0, 0}, 2, []string{"0-3 @ /1", "4-7 @ /1"}},
		{"cores: GPU 0 is at node 1", twoSockets, Cores, []int{1, 1, 0, 0}, 4,
			[]string{"8-11 @ /1", "12-15 @ /1", "0-3 @ /1", "4-7 @ /1"}},
		{"cores: one GPU unknown, so by number", twoSockets, Cores, []int{1, NoNode}, 2, []string{"0-7 @ /1", "8-15 @ /1"}},
		{"cores: one GPU at a node without us, so by number", restricted, Cores, []int{1, 7}, 2, []string{"2-3,9-10 @ /1", "11-14 @ /1"}},
		{"cores: all GPUs at one node, still even", twoSockets, Cores, []int{1, 1}, 2, []string{"0-7 @ /1", "8-15 @ /1"}},

		{"numa: ranks of a node share it", twoByTwo, NUMA, nil, 8, []string{
			"0-3,16-19 @0 /2", "0-3,16-19 @0 /2", "4-7,20-23 @1 /2", "4-7,20-23 @1 /2",
			"8-11,24-27 @2 /2", "8-11,24-27 @2 /2", "12-15,28-31 @3 /2", "12-15,28-31 @3 /2"}},
		{"numa: as many ranks as nodes", twoByTwo, NUMA, nil, 4,
			[]string{"0-3,16-19 @0 /1", "4-7,20-23 @1 /1", "8-11,24-27 @2 /1", "12-15,28-31 @3 /1"}},
		{"numa: fewer ranks than nodes", twoByTwo, NUMA, nil, 2, []string{"0-7,16-23 @0-1 /1", "8-15,24-31 @2-3 /1"}},
		{"numa: fewer, not divisible", twoByTwo, NUMA, nil, 3, []string{"0-3,16-19 @0 /1", "4-7,20-23 @1 /1", "8-15,24-31 @2-3 /1"}},
		{"numa: more ranks than cores", oneSocketSMT, NUMA, nil, 5, slices.Repeat([]string{"0-7 @0 /5"}, 5)},
		{"numa: the GPU's node", twoSockets, NUMA, []int{1, 1, 0, 0}, 4, []string{"8-15 @1 /2", "8-15 @1 /2", "0-7 @0 /2", "0-7 @0 /2"}},
		{"numa: all GPUs at one node", twoSockets, NUMA, []int{1, 1, 1}, 3, slices.Repeat([]string{"8-15 @1 /3"}, 3)},
		{"numa: a GPU that is unknown", twoSockets, NUMA, []int{1, NoNode}, 3, []string{"8-15 @1 /3", "8-15 @1 /3", "8-15 @1 /3"}},
		{"numa: a GPU at a node without CPUs", superchip, NUMA, []int{1}, 1, []string{"0-7 @0 /1"}},
		{"numa: a node of which little is ours gets few ranks", restricted, NUMA, nil, 4,
			[]string{"2-3 @ /1", "9-14 @1 /3", "9-14 @1 /3", "9-14 @1 /3"}},
		{"numa: an eight-GPU machine", eightNodeNPS4, NUMA, []int{3, 3, 1, 1, 7, 7, 5, 5}, 8, []string{
			"48-63,176-191 @3 /2", "48-63,176-191 @3 /2", "16-31,144-159 @1 /2", "16-31,144-159 @1 /2",
			"112-127,240-255 @7 /2", "112-127,240-255 @7 /2", "80-95,208-223 @5 /2", "80-95,208-223 @5 /2"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			plan, err := Plan(tt.m.read(t), tt.mode, tt.n, tt.gpus)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, short(plan)); diff != "" {
				t.Errorf("plan (-want +got):\n%s", diff)
			}
			again, err := Plan(tt.m.read(t), tt.mode, tt.n, tt.gpus)
			if diff := cmp.Diff(plan, again); diff != "" || err != nil {
				t.Errorf("another plan the second time (%v):\n%s", err, diff)
			}
		})
	}
}

func TestPlanSaysWhy(t *testing.T) {
	tests := []struct {
		name string
		m    machine
		mode Mode
		gpus []int
		want []string
	}{
		{"none", noSMT, None, []int{0}, []string{""}},
		{"cores", noSMT, Cores, []int{NoNode, NoNode}, []string{"CPUs 0-2: 3 of 6 cores", "CPUs 3-5: 3 of 6 cores"}},
		{"cores by GPU", twoSockets, Cores, []int{1, 0},
			[]string{"CPUs 8-15: 8 of 16 cores, GPU at NUMA node 1", "CPUs 0-7: 8 of 16 cores, GPU at NUMA node 0"}},
		{"numa by GPU, shared", twoSockets, NUMA, []int{1, 1}, slices.Repeat(
			[]string{"CPUs 8-15: NUMA node 1 (its GPU's), memory from there, shared by 2 ranks"}, 2)},
		{"numa, one node", noSMT, NUMA, []int{NoNode}, []string{"CPUs 0-5: NUMA node 0 (the only one), memory from there"}},
		{"numa by number", twoByTwo, NUMA, []int{NoNode},
			[]string{"CPUs 0-31: NUMA nodes 0-3 (rank 0 of 1 on 4 nodes), memory from there"}},
		{"numa, neither GPU nor memory there", restricted, NUMA, []int{5, NoNode, 1, 1}, []string{
			"CPUs 2-3: NUMA node 0 (rank 0 of 4 on 2 nodes; its GPU's node 5 has no CPU for us), which has no memory for us",
			"CPUs 9-14: NUMA node 1 (rank 1 of 4 on 2 nodes), memory from there, shared by 3 ranks",
			"CPUs 9-14: NUMA node 1 (its GPU's), memory from there, shared by 3 ranks",
			"CPUs 9-14: NUMA node 1 (its GPU's), memory from there, shared by 3 ranks"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			plan, err := Plan(tt.m.read(t), tt.mode, len(tt.gpus), tt.gpus)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, b := range plan {
				got = append(got, b.Why)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("reasons (-want +got):\n%s", diff)
			}
		})
	}
}

func TestPlanFails(t *testing.T) {
	noCPUInNodes := Topology{CPUs: CPUList{0}, Nodes: []Node{{ID: 0, Memory: 1}}}
	tests := []struct {
		name string
		topo Topology
		mode Mode
		n    int
		want string
	}{
		{"more ranks than cores", oneSocketSMT.read(t), Cores, 5, "cannot bind 5 ranks: there are 4 cores (CPUs 0-7) and each rank " +
			"would need one of its own; use --cpu-bind numa, where ranks share CPUs, or none, or at most 4 ranks"},
		{"no map", withoutMap.read(t), NUMA, 1, "cannot bind 1 ranks: this kernel shows no NUMA nodes; use --cpu-bind cores or none"},
		{"a map without our CPUs", noCPUInNodes, NUMA, 1, "cannot bind 1 ranks: no NUMA node has any of the CPUs 0; use --cpu-bind cores or none"},
		{"no rank", noSMT.read(t), Cores, 0, "cannot place 0 ranks"},
		{"no mode", noSMT.read(t), "socket", 1, `cannot bind 1 ranks: no way of binding is called "socket"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			plan, err := Plan(tt.topo, tt.mode, tt.n, nil)
			if err == nil || err.Error() != tt.want || plan != nil {
				t.Errorf("Plan = %v, %v, want %q", plan, err, tt.want)
			}
		})
	}
}

// What must hold on every machine, tried on many.
func TestPlanPromises(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2)) // the same machines each time
	pick := func(n int) int { return 1 + random.IntN(n) }
	for range 100 {
		m := machine{sockets: pick(2), nodesPerSocket: pick(4), coresPerNode: pick(6), threads: pick(2), threadsLast: random.IntN(2) == 0}
		var keep CPUList
		for cpu := range m.cores() * m.threads {
			if random.IntN(4) > 0 {
				keep = append(keep, cpu)
			}
		}
		if m.allowed = keep.String(); len(keep) == 0 {
			continue
		}
		topo, ranks := m.read(t), pick(12)
		gpus := make([]int, random.IntN(ranks+1))
		for i := range gpus {
			gpus[i] = random.IntN(m.nodes()+1) - 1
		}
		for _, mode := range []Mode{Cores, NUMA} {
			plan, err := Plan(topo, mode, ranks, gpus)
			if mode == Cores && ranks > len(topo.Cores) {
				if err == nil {
					t.Fatalf("%+v: %d ranks got a core each", m, ranks)
				}
				continue
			}
			if err != nil || len(plan) != ranks {
				t.Fatalf("%+v, %s: %d bindings for %d ranks, %v", m, mode, len(plan), ranks, err)
			}
			checkPromises(t, topo, mode, plan)
			if t.Failed() {
				t.Fatalf("%+v, %s, GPUs %v: %q", m, mode, gpus, short(plan))
			}
		}
	}
}

func checkPromises(t *testing.T, topo Topology, mode Mode, plan []Binding) {
	t.Helper()
	var sizes []int
	var all []CPUList
	for rank, b := range plan {
		if len(b.CPUs) == 0 || len(b.CPUs.and(topo.CPUs)) != len(b.CPUs) {
			t.Errorf("rank %d has none or foreign CPUs", rank)
		}
		cores := 0
		for _, core := range topo.Cores {
			switch n := len(core.CPUs.and(b.CPUs)); n {
			case 0:
			case len(core.CPUs):
				cores++
			default:
				t.Errorf("rank %d has a part of core %v", rank, core.CPUs)
			}
		}
		sizes, all = append(sizes, cores), append(all, b.CPUs)
		if mode == Cores && b.Ranks != 1 {
			t.Errorf("rank %d shares its cores", rank)
		}
		if n := Threads(b, len(topo.CPUs), len(plan)); n < 1 || n > len(b.CPUs) {
			t.Errorf("rank %d gets %d threads on %d CPUs", rank, n, len(b.CPUs))
		}
	}
	if mode == Cores {
		if slices.Max(sizes)-slices.Min(sizes) > 1 {
			t.Errorf("uneven: %v cores", sizes)
		}
		if diff := cmp.Diff(topo.CPUs, union(all...)); diff != "" {
			t.Errorf("not all CPUs are used (-all +used):\n%s", diff)
		}
	}
}

func TestParseMode(t *testing.T) {
	for _, text := range []string{"none", "cores", "numa"} {
		if m, err := ParseMode(text); err != nil || string(m) != text {
			t.Errorf("ParseMode(%q) = %q, %v", text, m, err)
		}
	}
	for _, text := range []string{"", "NUMA", "core"} {
		if m, err := ParseMode(text); err == nil || m != "" || !strings.Contains(err.Error(), "none, cores or numa") {
			t.Errorf("ParseMode(%q) = %q, %v", text, m, err)
		}
	}
}

func TestThreads(t *testing.T) {
	bound := func(cpus, ranks int) Binding {
		b := Binding{Ranks: ranks}
		for cpu := range cpus {
			b.CPUs = append(b.CPUs, cpu)
		}
		return b
	}
	tests := []struct {
		name          string
		b             Binding
		usable, ranks int
		want          int
	}{
		{"unbound", Binding{}, 16, 4, 4},
		{"rounded down", Binding{}, 15, 4, 3},
		{"at least one", Binding{}, 2, 8, 1},
		{"no ranks, no panic", Binding{}, 4, 0, 4},
		{"cores of its own", bound(4, 1), 16, 4, 4},
		{"uneven cores: the smaller part binds", bound(1, 1), 6, 4, 1},
		{"uneven cores: the larger part does not raise", bound(2, 1), 6, 4, 1},
		{"a shared node", bound(32, 4), 64, 8, 8},
		{"all on one node of two", bound(32, 8), 64, 8, 4},
		{"a quota below the mask", bound(32, 4), 8, 8, 1},
		{"more ranks than CPUs", bound(2, 5), 4, 5, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := Threads(tt.b, tt.usable, tt.ranks); got != tt.want {
				t.Errorf("Threads = %d, want %d", got, tt.want)
			}
		})
	}
}
