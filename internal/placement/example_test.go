package placement_test

import (
	"fmt"
	"testing/fstest"

	"lenslaunch/internal/placement"
)

// Four ranks on a machine of two cores with two hardware threads each: there is no
// core for each, so they share the node. (In production root is os.DirFS("/").)
func ExamplePlan() {
	root := fstest.MapFS{}
	for name, text := range map[string]string{
		"proc/self/status":                                         "Cpus_allowed_list:\t0-3\n",
		"sys/devices/system/cpu/online":                            "0-3",
		"sys/devices/system/node/online":                           "0",
		"sys/devices/system/node/node0/cpulist":                    "0-3",
		"sys/devices/system/node/node0/meminfo":                    "Node 0 MemTotal: 16777216 kB",
		"sys/devices/system/cpu/cpu0/topology/core_cpus_list":      "0,2",
		"sys/devices/system/cpu/cpu0/topology/physical_package_id": "0",
		"sys/devices/system/cpu/cpu1/topology/core_cpus_list":      "1,3",
		"sys/devices/system/cpu/cpu1/topology/physical_package_id": "0",
	} {
		root[name] = &fstest.MapFile{Data: []byte(text)}
	}
	machine, err := placement.Read(root)
	if err != nil {
		fmt.Println(err)
		return
	}
	if _, err := placement.Plan(machine, placement.Cores, 4, nil); err != nil {
		fmt.Println(err)
	}
	plan, err := placement.Plan(machine, placement.NUMA, 4, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(plan[3].Why)
	fmt.Println("OMP_NUM_THREADS:", placement.Threads(plan[3], len(machine.CPUs), 4))
	// Output:
	// cannot bind 4 ranks: there are 2 cores (CPUs 0-3) and each rank would need one of its own; use --cpu-bind numa, where ranks share CPUs, or none, or at most 2 ranks
	// CPUs 0-3: NUMA node 0 (the only one), memory from there, shared by 4 ranks
	// OMP_NUM_THREADS: 1
}
