package placement

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"strings"
)

// Topology is the part of a machine that this process may use.
type Topology struct {
	CPUs  CPUList // online and in the affinity mask
	Cores []Core  // of these CPUs; by package, node and first CPU
	Nodes []Node  // by number; nil: this kernel has no map of NUMA nodes
}

// Core is a physical core.
type Core struct {
	CPUs    CPUList // its hardware threads (SMT siblings), those that may be used
	Package int     // socket; -1 where the firmware does not tell
	Node    int     // NUMA node; -1 if no node has it
}

// Node is a NUMA node.
type Node struct {
	ID     int
	CPUs   CPUList // those that may be used, perhaps none
	Memory int64   // bytes; 0: it has none, or our cpuset does not allow it
}

// Packages is the number of sockets whose cores may be used.
func (t Topology) Packages() int {
	seen := make(map[int]bool)
	for _, core := range t.Cores {
		seen[core.Package] = true
	}
	return len(seen)
}

const (
	cpuDir  = "sys/devices/system/cpu"
	nodeDir = "sys/devices/system/node"
	status  = "proc/self/status"
)

// Read reads the topology below root, the root of the file system (os.DirFS("/") in
// production). What is allowed is the affinity mask of the process's first thread:
// call it before that thread is bound anywhere.
func Read(root fs.FS) (Topology, error) {
	t, err := read(root)
	if err != nil {
		return Topology{}, fmt.Errorf("cannot read the CPU topology: %w", err)
	}
	return t, nil
}

func read(root fs.FS) (Topology, error) {
	online, err := readList(root, cpuDir+"/online")
	if err != nil {
		return Topology{}, err
	}
	allowed, err := readStatus(root)
	if err != nil {
		return Topology{}, err
	}
	t := Topology{CPUs: online.and(allowed.cpus)}
	if len(t.CPUs) == 0 {
		// A container may show CPUs by numbers of its own.
		return Topology{}, fmt.Errorf("the CPUs that this process may use (%v) are not among those online (%v)", allowed.cpus, online)
	}
	if t.Nodes, err = readNodes(root, t.CPUs, allowed); err != nil {
		return Topology{}, err
	}
	t.Cores, err = readCores(root, t)
	return t, err
}

// allowed is what the affinity mask and the cpuset leave to this process.
type allowed struct {
	cpus, nodes CPUList
	anyNode     bool // a kernel without cpusets restricts no memory
}

func readStatus(root fs.FS) (allowed, error) {
	text, err := fs.ReadFile(root, status)
	if err != nil {
		return allowed{}, err
	}
	a, found := allowed{anyNode: true}, false
	for lines := bufio.NewScanner(bytes.NewReader(text)); err == nil && lines.Scan(); {
		switch key, value, _ := strings.Cut(lines.Text(), ":"); key {
		case "Cpus_allowed_list":
			found = true
			a.cpus, err = ParseCPUList(value)
		case "Mems_allowed_list":
			a.anyNode = false
			a.nodes, err = ParseCPUList(value)
		}
	}
	if err == nil && !found {
		err = errors.New("no Cpus_allowed_list")
	}
	if err != nil {
		return allowed{}, fmt.Errorf("%s: %w", status, err)
	}
	return a, nil
}

// readList reads a file that holds one list.
func readList(root fs.FS, name string) (CPUList, error) {
	text, err := fs.ReadFile(root, name)
	if err != nil {
		return nil, err
	}
	list, err := ParseCPUList(string(text))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return list, nil
}
