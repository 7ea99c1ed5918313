package placement

import (
	"slices"
	"strings"
	"testing"
)

// Whatever the kernel or a container's emulation of it writes, there is a topology
// within what is online, or an error.
func FuzzRead(f *testing.F) {
	good := "Cpus_allowed_list:\t0-2\nMems_allowed_list:\t0\n"
	f.Add(good, "0-3", "0-3", "Node 0 MemTotal: 1024 kB\n")
	f.Add("Cpus_allowed_list:\n", "", "", "")
	f.Add(good+good, "0-1", "7", "Node 0 MemTotal: 99999999999999999999 kB")
	f.Add("Cpus_allowed_list", "3-", "0-16384", "MemTotal:\x00")
	f.Fuzz(func(t *testing.T, process, online, siblings, memory string) {
		root := oneSocketSMT.tree(t)
		for name, text := range map[string]string{
			status: process, cpuDir + "/online": online,
			cpuDir + "/cpu1/topology/core_cpus_list": siblings, nodeDir + "/node0/meminfo": memory,
		} {
			root[name].Data = []byte(text)
		}
		topo, err := Read(root)
		if err != nil {
			return
		}
		all, err := ParseCPUList(online)
		if err != nil || len(topo.CPUs) == 0 || len(topo.CPUs.and(all)) != len(topo.CPUs) {
			t.Fatalf("CPUs %v of %q: %v", topo.CPUs, online, err)
		}
		for _, core := range topo.Cores {
			if len(core.CPUs) == 0 || len(core.CPUs.and(topo.CPUs)) != len(core.CPUs) {
				t.Errorf("core %v of %v", core.CPUs, topo.CPUs)
			}
		}
		for _, node := range topo.Nodes {
			if node.Memory < 0 || len(node.CPUs.and(topo.CPUs)) != len(node.CPUs) {
				t.Errorf("node %+v", node)
			}
		}
	})
}

// Each rank gets one entry of the inherited list, and no two the same.
func FuzzGPUBind(f *testing.F) {
	for _, seed := range []string{"", "0", "0,1,2", "3,-1", "GPU-a,GPU-b", "0,0", " 1 , 2 ,", "MIG-GPU-a/1/0"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, value string) {
		env := map[string]string{visibleDevices: value}
		var given []string
		for rank := 0; ; rank++ {
			got, err := GPUBind(env, rank, -1)
			if err != nil {
				break
			}
			given = append(given, got[visibleDevices])
		}
		for i, entry := range given {
			if entry == "" || strings.Contains(entry, ",") || !strings.Contains(value, entry) || slices.Contains(given[:i], entry) {
				t.Errorf("%q gives %q", value, given)
			}
		}
	})
}
