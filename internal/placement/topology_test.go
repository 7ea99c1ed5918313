package placement

import (
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

// text writes a topology in short: the cores by package and node, then the nodes.
func (t Topology) text() string {
	var out strings.Builder
	fmt.Fprintf(&out, "%v in %d:", t.CPUs, t.Packages())
	for _, core := range t.Cores {
		fmt.Fprintf(&out, " %d/%d(%v)", core.Package, core.Node, core.CPUs)
	}
	for _, node := range t.Nodes {
		fmt.Fprintf(&out, " | node %d(%v) %dG", node.ID, node.CPUs, node.Memory>>30)
	}
	return out.String()
}

func TestRead(t *testing.T) {
	tests := []struct {
		name string
		m    machine
		want string
	}{
		{"one socket, SMT", oneSocketSMT, "0-7 in 1: 0/0(0,4) 0/0(1,5) 0/0(2,6) 0/0(3,7) | node 0(0-7) 16G"},
		{"siblings side by side", siblingsSide, "0-7 in 1: 0/0(0-1) 0/0(2-3) 0/0(4-5) 0/0(6-7) | node 0(0-7) 16G"},
		{"no SMT", noSMT, "0-5 in 1: 0/0(0) 0/0(1) 0/0(2) 0/0(3) 0/0(4) 0/0(5) | node 0(0-5) 16G"},
		{"offline", halfOffline, "0,2-5 in 1: 0/0(0,4) 0/0(2) 0/0(3) 0/0(5) | node 0(0,2-5) 16G"},
		{"restricted", restricted, "2-3,9-14 in 2: 0/0(2) 0/0(3) 1/1(9) 1/1(10) 1/1(11) 1/1(12) 1/1(13) 1/1(14)" +
			" | node 0(2-3) 0G | node 1(9-14) 16G"},
		{"one thread of a core allowed", machine{sockets: 1, nodesPerSocket: 1, coresPerNode: 2, threads: 2, allowed: "1-3"},
			"1-3 in 1: 0/0(1) 0/0(2-3) | node 0(1-3) 16G"},
		{"no map of nodes", withoutMap, "0-7 in 2: 0/-1(0-1) 0/-1(2-3) 1/-1(4-5) 1/-1(6-7)"},
		{"nodes of memory only", superchip, "0-7 in 1: 0/0(0) 0/0(1) 0/0(2) 0/0(3) 0/0(4) 0/0(5) 0/0(6) 0/0(7)" +
			" | node 0(0-7) 16G | node 1() 16G | node 2() 16G"},
		{"2 sockets x 2 nodes", machine{sockets: 2, nodesPerSocket: 2, coresPerNode: 1, threads: 2, threadsLast: true},
			"0-7 in 2: 0/0(0,4) 0/1(1,5) 1/2(2,6) 1/3(3,7) | node 0(0,4) 16G | node 1(1,5) 16G | node 2(2,6) 16G | node 3(3,7) 16G"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, tt.m.read(t).text()); diff != "" {
				t.Errorf("topology (-want +got):\n%s", diff)
			}
		})
	}
}

// Some machines number the sockets alternately: neighbours in the list of cores must be
// neighbours on the machine.
func TestReadAlternatingSockets(t *testing.T) {
	root := noSMT.tree(t)
	for cpu := range 6 {
		root[fmt.Sprintf("%s/cpu%d/topology/physical_package_id", cpuDir, cpu)] = file("%d", cpu%2)
	}
	topo, err := Read(root)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff("0-5 in 2: 0/0(0) 0/0(2) 0/0(4) 1/0(1) 1/0(3) 1/0(5) | node 0(0-5) 16G", topo.text()); diff != "" {
		t.Errorf("topology (-want +got):\n%s", diff)
	}
}

// Before Linux 5.3 the list of siblings had another name.
func TestReadOldKernel(t *testing.T) {
	root := oneSocketSMT.tree(t)
	for cpu := range 8 {
		dir := fmt.Sprintf("%s/cpu%d/topology/", cpuDir, cpu)
		root[dir+"thread_siblings_list"] = root[dir+"core_cpus_list"]
		delete(root, dir+"core_cpus_list")
	}
	topo, err := Read(root)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(oneSocketSMT.read(t), topo); diff != "" {
		t.Errorf("topology (-want +got):\n%s", diff)
	}
}

func TestReadFails(t *testing.T) {
	set := func(name, text string) func(fstest.MapFS) fs.FS {
		return func(root fstest.MapFS) fs.FS { root[name] = file("%s", text); return root }
	}
	remove := func(prefix string) func(fstest.MapFS) fs.FS {
		return func(root fstest.MapFS) fs.FS { return without(root, prefix) }
	}
	tests := []struct {
		name   string
		change func(fstest.MapFS) fs.FS
		want   string
	}{
		{"no sysfs", remove("sys/"), "open sys/devices/system/cpu/online: file does not exist"},
		{"no proc", remove("proc/"), "open proc/self/status: file does not exist"},
		{"a status without the mask", set(status, "Name:\tx"), "proc/self/status: no Cpus_allowed_list"},
		{"a mask that is none", set(status, "Cpus_allowed_list:\tx"), `proc/self/status: cannot read the list of CPUs "x"`},
		{"nodes that are none", set(status, "Cpus_allowed_list:\t0\nMems_allowed_list:\tx"), `proc/self/status: cannot read the list of CPUs "x"`},
		{"CPUs by other numbers", set(status, "Cpus_allowed_list:\t64-71"), "the CPUs that this process may use (64-71) are not among those online (0-7)"},
		{"a CPU without its topology", remove(cpuDir + "/cpu3/"), "cpu3/topology/thread_siblings_list: file does not exist"},
		{"a core without its own CPU", set(cpuDir+"/cpu3/topology/core_cpus_list", "6"), "CPU 3 is not among the threads of its own core (6)"},
		{"no package", remove(cpuDir + "/cpu0/topology/physical"), "physical_package_id: file does not exist"},
		{"a package that is no number", set(cpuDir+"/cpu0/topology/physical_package_id", "x"), `physical_package_id: "x\n" is no number`},
		{"a broken list of nodes", set(nodeDir+"/online", "x"), "node/online: cannot read the list of CPUs"},
		{"a node without its CPUs", remove(nodeDir + "/node0/cpulist"), "node0/cpulist: file does not exist"},
		{"a node without its memory", remove(nodeDir + "/node0/meminfo"), "node0/meminfo: file does not exist"},
		{"no amount of memory", set(nodeDir+"/node0/meminfo", "Node 0 MemFree: 1 kB"), "node0/meminfo: no MemTotal"},
		{"a negative one", set(nodeDir+"/node0/meminfo", "Node 0 MemTotal: -1 kB"), `node0/meminfo: MemTotal is "-1"`},
		{"too large a one", set(nodeDir+"/node0/meminfo", "Node 0 MemTotal: 9223372036854775807 kB"), `node0/meminfo: MemTotal is "9223372036854775807"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			topo, err := Read(tt.change(oneSocketSMT.tree(t)))
			if err == nil {
				t.Fatalf("no error, but %s", topo.text())
			}
			if s := err.Error(); !strings.HasPrefix(s, "cannot read the CPU topology: ") || !strings.Contains(s, tt.want) {
				t.Errorf("error %q, want %q in it", s, tt.want)
			}
		})
	}
}

// This machine: what sysfs says fits what the runtime says, and a plan for it is
// within it.
func TestReadThisMachine(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("no sysfs")
	}
	topo, err := Read(os.DirFS("/"))
	if err != nil {
		t.Fatal(err)
	}
	if len(topo.CPUs) != runtime.NumCPU() {
		t.Errorf("%d CPUs (%v), the runtime counts %d", len(topo.CPUs), topo.CPUs, runtime.NumCPU())
	}
	var lists []CPUList
	for _, core := range topo.Cores {
		lists = append(lists, core.CPUs)
	}
	if diff := cmp.Diff(topo.CPUs, union(lists...)); diff != "" {
		t.Errorf("CPUs and cores (-CPUs +cores):\n%s", diff)
	}
}
