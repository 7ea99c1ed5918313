package ranks_test

import (
	"fmt"

	"lenslaunch/ranks"
)

func ExampleHostlist() {
	hosts, err := ranks.Hostlist("login,n[08-10]")
	fmt.Println(hosts, err)
	_, err = ranks.Hostlist("login,n[10-08]")
	fmt.Println(err)
	// Output:
	// [login n08 n09 n10] <nil>
	// cannot read host list "login,n[10-08]" at byte 8 ("10-08]"): the range runs backwards
}

func ExampleTasksPerNode() {
	counts, err := ranks.TasksPerNode("4(x2),3")
	fmt.Println(counts, err)
	// Output:
	// [4 4 3] <nil>
}

func ExampleResolve() {
	nodes, node := 2, 1
	world, err := ranks.Resolve(ranks.Request{
		NProc: "4", NNodes: &nodes, NodeRank: &node, MasterAddr: "n1", MasterPort: 29500, HasRunID: true,
	}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(world.WorldSize(), world.LocalRanks())
	for _, line := range world.Why {
		fmt.Println(line)
	}
	// Output:
	// 8 [{4 0} {5 1} {6 2} {7 3}]
	// 4 local ranks from --nproc
	// 2 nodes from --nnodes
	// node rank 1 of 2 from --node-rank
	// master address n1 from --master-addr
	// master port 29500 from --master-port
}

// A launcher that sees nothing of the other nodes is told what to add.
func ExampleUsageError() {
	nodes, node := 2, 1
	_, err := ranks.Resolve(ranks.Request{NNodes: &nodes, NodeRank: &node, MasterAddr: "n1", MasterPort: 29500}, nil)
	fmt.Println(err)
	// Output:
	// 2 nodes cannot find each other: also give, on every node, --run-id ID (the same on all nodes, a new one for every start)
}
