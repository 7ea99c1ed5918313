package placement

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A launcher that was itself bound (by Slurm, taskset or another launcher) stays
// within what it was given.
func TestPlanStaysInTheInheritedMask(t *testing.T) {
	topo := topology(t)
	modes := []Mode{Cores, NUMA}
	if topo.Nodes == nil {
		modes = modes[:1]
	}
	core := topo.Cores[len(topo.Cores)-1]
	for _, mode := range modes {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), "PLACEMENT_TEST_MODE="+string(mode))
		restore := apply(t, Binding{CPUs: core.CPUs})
		out, err := cmd.CombinedOutput()
		restore()
		if got := strings.TrimSpace(string(out)); err != nil || got != core.CPUs.String() {
			t.Errorf("%s within %v: %q, %v", mode, core.CPUs, got, err)
		}
	}
}

// Every PCI device of this machine is found by the name that sysfs gives it, and by
// the longer one of NVIDIA's tools.
func TestGPUNodesOfThisMachine(t *testing.T) {
	files, err := filepath.Glob("/sys/bus/pci/devices/*/numa_node")
	if err != nil || len(files) == 0 {
		t.Skip("no PCI devices, or no NUMA")
	}
	for _, file := range files {
		id := filepath.Base(filepath.Dir(file))
		nodes, err := GPUNodes(os.DirFS("/"), []string{id, "0000" + strings.ToUpper(id)})
		if err != nil || nodes[0] != nodes[1] || nodes[0] < NoNode {
			t.Errorf("%s is at %v, %v", id, nodes, err)
		}
	}
}
