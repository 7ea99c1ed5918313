package placement

import (
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// topology is this machine's.
func topology(t *testing.T) Topology {
	t.Helper()
	topo, err := Read(os.DirFS("/"))
	if err != nil {
		t.Fatal(err)
	}
	return topo
}

func apply(t *testing.T, b Binding) (restore func()) {
	t.Helper()
	undo, err := Apply(b)
	if err != nil {
		t.Fatal(err)
	}
	return func() {
		t.Helper()
		if err := undo(); err != nil {
			t.Fatal(err)
		}
	}
}

// shell runs a script as a rank would be started and returns its output.
func shell(t *testing.T, script string) string {
	t.Helper()
	out, err := exec.Command("/bin/sh", "-c", script).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return strings.TrimSpace(string(out))
}

const (
	showCPUs   = `sed -n 's/^Cpus_allowed_list:[[:space:]]*//p' /proc/self/status`
	showMemory = `read -r address policy rest </proc/self/numa_maps; echo "$policy"`
)

// stay keeps the test on its thread, so that what it asks for afterwards is that of the
// thread that was bound.
func stay(t *testing.T) {
	runtime.LockOSThread()
	t.Cleanup(runtime.UnlockOSThread)
}

// now is where the calling thread may run, also outside a binding.
func now(t *testing.T) CPUList {
	t.Helper()
	cpus, err := affinity()
	if err != nil {
		t.Fatal(err)
	}
	return cpus
}

// A child has its place from its first instruction on, and so have its own children.
func TestChildInheritsCPUs(t *testing.T) {
	stay(t)
	topo, before := topology(t), now(t)
	for _, cpu := range []int{topo.CPUs[0], topo.CPUs[len(topo.CPUs)-1]} {
		want := CPUList{cpu}
		restore := apply(t, Binding{CPUs: want})
		got := shell(t, showCPUs)
		restore()
		if got != want.String() {
			t.Errorf("the child may run on %q, want %v", got, want)
		}
	}
	if diff := cmp.Diff(before, now(t)); diff != "" {
		t.Errorf("the thread was not put back (-before +after):\n%s", diff)
	}
	if got := shell(t, showCPUs); got != before.String() {
		t.Errorf("a later child may run on %q, want %v", got, before)
	}
}

func TestTasksetAgrees(t *testing.T) {
	if _, err := exec.LookPath("taskset"); err != nil {
		t.Skip("no taskset on this machine")
	}
	want := CPUList{topology(t).CPUs[0]}
	restore := apply(t, Binding{CPUs: want})
	defer restore()
	if got := shell(t, `taskset -cp $$`); !strings.HasSuffix(got, ": "+want.String()) {
		t.Errorf("taskset says %q, want %v", got, want)
	}
}

// The plan for this machine, applied rank by rank from one thread as the launcher does.
func TestPlanOfThisMachine(t *testing.T) {
	topo := topology(t)
	for _, mode := range []Mode{None, Cores, NUMA} {
		if mode == NUMA && topo.Nodes == nil {
			continue
		}
		plan, err := Plan(topo, mode, len(topo.Cores), nil)
		if err != nil {
			t.Fatal(err)
		}
		memory := CheckMemoryPolicy()
		for rank, b := range plan {
			want := b.CPUs
			if mode == None {
				want = now(t)
			}
			if memory != nil {
				b.Nodes = nil
			}
			restore := apply(t, b)
			got := shell(t, showCPUs)
			restore()
			if got != want.String() {
				t.Errorf("%s: rank %d may run on %q, want %v", mode, rank, got, want)
			}
		}
	}
}

func TestChildInheritsMemoryPolicy(t *testing.T) {
	stay(t)
	topo := topology(t)
	if err := CheckMemoryPolicy(); err != nil {
		t.Skip(err)
	}
	if _, err := os.Stat("/proc/self/numa_maps"); err != nil {
		t.Skip("this kernel does not show memory policies")
	}
	var node Node
	for _, n := range topo.Nodes {
		if n.Memory > 0 {
			node = n
		}
	}
	before := shell(t, showMemory)
	tests := []struct {
		name  string
		nodes []int
		want  string
	}{
		{"one node is preferred", []int{node.ID}, "prefer:" + CPUList{node.ID}.String()},
		{"several: where the thread runs", []int{node.ID, node.ID + 1}, "local"},
		{"none: as it was", nil, before},
	}
	for _, tt := range tests {
		restore := apply(t, Binding{Nodes: tt.nodes})
		got := shell(t, showMemory)
		restore()
		if got != tt.want {
			t.Errorf("%s: the child's policy is %q, want %q", tt.name, got, tt.want)
		}
	}
	if after := shell(t, showMemory); after != before {
		t.Errorf("the policy was not put back: %q, before %q", after, before)
	}
}

// An inherited policy (numactl --interleave=all lenslaunch ...) comes back as it was.
func TestInheritedPolicyIsPutBack(t *testing.T) {
	if err := CheckMemoryPolicy(); err != nil {
		t.Skip(err)
	}
	restoreOuter := apply(t, Binding{Nodes: []int{0}})
	defer restoreOuter()
	outer, err := getPolicy()
	if err != nil {
		t.Fatal(err)
	}
	restore := apply(t, Binding{Nodes: []int{0, 1}})
	inner, err := getPolicy()
	if err != nil {
		t.Fatal(err)
	}
	restore()
	after, err := getPolicy()
	if err != nil {
		t.Fatal(err)
	}
	if outer.mode != mpolPreferred || !outer.nodes.IsSet(0) || inner.mode == outer.mode || after != outer {
		t.Errorf("modes %d, inside %d, afterwards %d", outer.mode, inner.mode, after.mode)
	}
}

// Nothing is bound after an error, and nothing less than asked for without one.
func TestApplyFails(t *testing.T) {
	topo := topology(t)
	usable := topo.CPUs[0]
	tests := []struct {
		name string
		b    Binding
		want string
	}{
		{"a CPU that is not there", Binding{CPUs: CPUList{maxCPU}}, "cannot bind to CPUs 16383: sched_setaffinity: "},
		{"one of two is not there", Binding{CPUs: CPUList{usable, maxCPU}}, "the kernel allows only "},
		{"a node that cannot be", Binding{CPUs: CPUList{usable}, Nodes: []int{maxNodes}}, "cannot prefer memory of NUMA nodes 1024: "},
		{"a node that is not there", Binding{CPUs: CPUList{usable}, Nodes: []int{maxNodes - 2}}, "cannot prefer memory of NUMA nodes 1022: "},
	}
	before := now(t)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			stay(t)
			restore, err := Apply(tt.b)
			if err == nil || restore != nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("Apply: %v, want %q in it", err, tt.want)
			}
			if diff := cmp.Diff(before, now(t)); diff != "" {
				t.Errorf("still bound (-before +after):\n%s", diff)
			}
		})
	}
}

// Only the thread that starts the ranks is bound: the launcher's others go on where
// they like.
func TestOtherThreadsStayFree(t *testing.T) {
	if runtime.NumCPU() < 2 {
		t.Skip("one CPU is both bound and free")
	}
	before := now(t)
	restore := apply(t, Binding{CPUs: before[:1]})
	defer restore()
	other := make(chan CPUList)
	go func() {
		cpus, _ := affinity() // this goroutine cannot run on the locked thread
		other <- cpus
	}()
	if diff := cmp.Diff(before, <-other); diff != "" {
		t.Errorf("another thread is bound (-before +there):\n%s", diff)
	}
}
