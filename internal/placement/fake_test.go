package placement

import (
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"
)

// machine is a made-up machine as sysfs would show it.
type machine struct {
	sockets, nodesPerSocket, coresPerNode, threads int

	threadsLast bool   // numbers: first all cores, then their second threads (usual), else siblings side by side
	offline     string // CPUs that are switched off
	allowed     string // affinity mask, empty: all
	mems        string // cpuset's nodes, empty: all
	noNUMA      bool   // a kernel without the map
	memoryNodes int    // further nodes that have memory only
	gpus        map[string]int
}

// cpu is the number of a hardware thread of a core.
func (m machine) cpu(core, thread int) int {
	if m.threadsLast {
		return thread*m.cores() + core
	}
	return core*m.threads + thread
}

func (m machine) nodes() int { return m.sockets * m.nodesPerSocket }
func (m machine) cores() int { return m.nodes() * m.coresPerNode }

func list(t *testing.T, text string) CPUList {
	t.Helper()
	l, err := ParseCPUList(text)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func file(format string, args ...any) *fstest.MapFile {
	return &fstest.MapFile{Data: fmt.Appendf(nil, format+"\n", args...), Mode: 0o444}
}

// tree writes the files.
func (m machine) tree(t *testing.T) fstest.MapFS {
	t.Helper()
	root, off := fstest.MapFS{}, list(t, m.offline)
	var online CPUList
	nodes := make([]CPUList, m.nodes())
	for core := range m.cores() {
		var siblings CPUList
		for thread := range m.threads {
			if cpu := m.cpu(core, thread); !off.Has(cpu) {
				siblings = union(siblings, CPUList{cpu})
			}
		}
		node := core / m.coresPerNode
		online, nodes[node] = union(online, siblings), union(nodes[node], siblings)
		for _, cpu := range siblings {
			dir := fmt.Sprintf("%s/cpu%d/topology/", cpuDir, cpu)
			root[dir+"core_cpus_list"] = file("%v", siblings)
			root[dir+"physical_package_id"] = file("%d", node/m.nodesPerSocket)
		}
	}
	root[cpuDir+"/online"] = file("%v", online)
	m.writeNodes(root, nodes)
	allowed := m.allowed
	if allowed == "" {
		allowed = "0-4095" // an affinity mask names CPUs that could be there, too
	}
	mems := ""
	if m.mems != "" {
		mems = "Mems_allowed_list:\t" + m.mems + "\n"
	}
	root[status] = file("Name:\tlenslaunch\nCpus_allowed:\tffff\nCpus_allowed_list:\t%s\n%snonvoluntary_ctxt_switches:\t2", allowed, mems)
	for id, node := range m.gpus {
		root["sys/bus/pci/devices/"+id+"/numa_node"] = file("%d", node)
	}
	return root
}

func (m machine) writeNodes(root fstest.MapFS, nodes []CPUList) {
	if m.noNUMA {
		return
	}
	for range m.memoryNodes {
		nodes = append(nodes, nil)
	}
	for id, cpus := range nodes {
		dir := fmt.Sprintf("%s/node%d/", nodeDir, id)
		root[dir+"cpulist"] = file("%v", cpus)
		root[dir+"meminfo"] = file("Node %[1]d MemTotal:       %[2]d kB\nNode %[1]d MemFree:        1 kB", id, 16<<20)
	}
	root[nodeDir+"/online"] = file("0-%d", len(nodes)-1)
}

func (m machine) read(t *testing.T) Topology {
	t.Helper()
	topo, err := Read(m.tree(t))
	if err != nil {
		t.Fatal(err)
	}
	return topo
}

// without removes files from a tree.
func without(root fstest.MapFS, prefix string) fs.FS {
	for name := range root {
		if strings.HasPrefix(name, prefix) {
			delete(root, name)
		}
	}
	return root
}

// Machines that the tests use by name.
var (
	oneSocketSMT  = machine{sockets: 1, nodesPerSocket: 1, coresPerNode: 4, threads: 2, threadsLast: true}
	noSMT         = machine{sockets: 1, nodesPerSocket: 1, coresPerNode: 6, threads: 1}
	siblingsSide  = machine{sockets: 1, nodesPerSocket: 1, coresPerNode: 4, threads: 2}
	twoByTwo      = machine{sockets: 2, nodesPerSocket: 2, coresPerNode: 4, threads: 2, threadsLast: true}
	twoSockets    = machine{sockets: 2, nodesPerSocket: 1, coresPerNode: 8, threads: 1}
	withoutMap    = machine{sockets: 2, nodesPerSocket: 1, coresPerNode: 2, threads: 2, noNUMA: true}
	restricted    = machine{sockets: 2, nodesPerSocket: 1, coresPerNode: 8, threads: 1, allowed: "2-3,9-14", mems: "1"}
	halfOffline   = machine{sockets: 1, nodesPerSocket: 1, coresPerNode: 4, threads: 2, threadsLast: true, offline: "1,6-7"}
	superchip     = machine{sockets: 1, nodesPerSocket: 1, coresPerNode: 8, threads: 1, memoryNodes: 2}
	eightNodeNPS4 = machine{sockets: 2, nodesPerSocket: 4, coresPerNode: 16, threads: 2, threadsLast: true}
)
