package placement

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"
)

// readCores groups the usable CPUs into physical cores, in an order in which
// neighbours are near to each other. The CPUs' numbers are no such order: many
// machines number the hardware threads last, and some the sockets alternately.
func readCores(root fs.FS, t Topology) ([]Core, error) {
	nodeOf := make(map[int]int)
	for _, node := range t.Nodes {
		for _, cpu := range node.CPUs {
			nodeOf[cpu] = node.ID
		}
	}
	var cores []Core
	seen := make(map[int]bool)
	for _, cpu := range t.CPUs {
		if seen[cpu] {
			continue
		}
		core, err := readCore(root, cpu, t.CPUs)
		if err != nil {
			return nil, err
		}
		core.Node = -1
		if node, ok := nodeOf[cpu]; ok {
			core.Node = node
		}
		for _, sibling := range core.CPUs {
			seen[sibling] = true
		}
		cores = append(cores, core)
	}
	slices.SortFunc(cores, func(a, b Core) int {
		return cmp.Or(cmp.Compare(a.Package, b.Package), cmp.Compare(a.Node, b.Node), cmp.Compare(a.CPUs[0], b.CPUs[0]))
	})
	return cores, nil
}

// readCore reads the core of a CPU. It goes by the list of siblings: a core's number
// (core_id) is unique in its package only, and on some machines not even there.
func readCore(root fs.FS, cpu int, usable CPUList) (Core, error) {
	dir := cpuDir + "/cpu" + strconv.Itoa(cpu) + "/topology"
	siblings, err := readList(root, dir+"/core_cpus_list")
	if errors.Is(err, fs.ErrNotExist) {
		siblings, err = readList(root, dir+"/thread_siblings_list") // its name before Linux 5.3
	}
	if err != nil {
		return Core{}, err
	}
	core := Core{CPUs: siblings.and(usable)}
	if !core.CPUs.Has(cpu) {
		return Core{}, fmt.Errorf("%s: CPU %d is not among the threads of its own core (%v)", dir, cpu, siblings)
	}
	core.Package, err = readInt(root, dir+"/physical_package_id")
	return core, err
}

// readInt reads a file that holds one number, perhaps -1.
func readInt(root fs.FS, name string) (int, error) {
	text, err := fs.ReadFile(root, name)
	if err != nil {
		return 0, err
	}
	n, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 32)
	if err != nil {
		return 0, fmt.Errorf("%s: %.40q is no number", name, text)
	}
	return int(n), nil
}
