package ranks

import (
	"errors"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestResolveOneNode(t *testing.T) {
	four := Request{GPUs: 4, GPUsKnown: true, CPUs: 16}
	with := func(change func(*Request)) Request {
		req := four
		change(&req)
		return req
	}
	for name, test := range map[string]struct {
		req  Request
		want World
	}{
		"nothing at all": {Request{}, World{
			Nodes: 1, LocalSize: 1, MasterAddr: "127.0.0.1",
			Why: []string{
				"1 local rank from default, no GPU found", "1 node from default", "node rank 0 of 1 from default",
				"master address 127.0.0.1 from default", "master port reserved for each attempt",
			},
		}},
		"a number of ranks": {with(func(r *Request) { r.NProc = "8" }), World{
			Nodes: 1, LocalSize: 8, MasterAddr: "127.0.0.1",
			Why: []string{
				"8 local ranks from --nproc", "1 node from default", "node rank 0 of 1 from default",
				"master address 127.0.0.1 from default", "master port reserved for each attempt",
			},
		}},
		"GPUs by default": {with(func(r *Request) { r.NProc = "auto" }), World{
			Nodes: 1, LocalSize: 4, MasterAddr: "127.0.0.1",
			Why: []string{
				"4 local ranks from the GPUs of this host", "1 node from default", "node rank 0 of 1 from default",
				"master address 127.0.0.1 from default", "master port reserved for each attempt",
			},
		}},
		"everything by flags": {with(func(r *Request) {
			r.NProc, r.NNodes, r.NodeRank, r.MasterAddr, r.MasterPort = "cpu", ptr(1), ptr(0), "::1", 65535
			r.MaxRestarts, r.Scheduler = 3, "none"
			r.Origin = map[string]string{"--nproc": "LENSLAUNCH_NPROC"}
		}), World{
			Nodes: 1, LocalSize: 16, MasterAddr: "::1", MasterPort: 65535,
			Why: []string{
				"16 local ranks from the usable CPUs, asked for by LENSLAUNCH_NPROC", "no scheduler from --scheduler",
				"1 node from --nnodes", "node rank 0 of 1 from --node-rank",
				"master address ::1 from --master-addr", "master port 65535 from --master-port",
			},
		}},
		"GPUs asked for": {with(func(r *Request) { r.NProc, r.GPUs = "gpu", 1 }), World{
			Nodes: 1, LocalSize: 1, MasterAddr: "127.0.0.1",
			Why: []string{
				"1 local rank from the GPUs of this host, asked for by --nproc", "1 node from default", "node rank 0 of 1 from default",
				"master address 127.0.0.1 from default", "master port reserved for each attempt",
			},
		}},
	} {
		got, err := Resolve(test.req, nil)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// Variables that another launcher, or pyxis and enroot, left behind describe
// that launcher's ranks, not ours.
func TestResolveIgnoresAnotherLaunchersVariables(t *testing.T) {
	env := map[string]string{
		"RANK": "3", "LOCAL_RANK": "1", "WORLD_SIZE": "8", "LOCAL_WORLD_SIZE": "2", "GROUP_RANK": "1",
		"MASTER_ADDR": "elsewhere", "MASTER_PORT": "1", "SLURM_PROCID": "3", "SLURM_NTASKS": "8",
	}
	want, err := Resolve(Request{NProc: "2"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	got, err := Resolve(Request{NProc: "2"}, env)
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v (-without +with):\n%s", err, diff)
	}
}

func TestResolveSeveralNodesByFlags(t *testing.T) {
	req := Request{NProc: "4", NNodes: ptr(3), NodeRank: ptr(2), MasterAddr: "n1", MasterPort: 29500, HasRunID: true}
	got, err := Resolve(req, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := World{
		Nodes: 3, NodeRank: 2, LocalSize: 4, MasterAddr: "n1", MasterPort: 29500,
		Why: []string{
			"4 local ranks from --nproc", "3 nodes from --nnodes", "node rank 2 of 3 from --node-rank",
			"master address n1 from --master-addr", "master port 29500 from --master-port",
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got.WorldSize() != 12 || got.Rank(0) != 8 {
		t.Errorf("world size %d, first rank %d", got.WorldSize(), got.Rank(0))
	}
	if diff := cmp.Diff([]Rank{{8, 0}, {9, 1}, {10, 2}, {11, 3}}, got.LocalRanks()); diff != "" {
		t.Errorf("local ranks (-want +got):\n%s", diff)
	}
}

// The ranks of all nodes together are every rank once.
func TestRanksOfAllNodesAreOneSequence(t *testing.T) {
	for _, size := range []World{{Nodes: 1, LocalSize: 1}, {Nodes: 1, LocalSize: 512}, {Nodes: 7, LocalSize: 3}} {
		next := 0
		for size.NodeRank = range size.Nodes {
			for local, r := range size.LocalRanks() {
				if r.Local != local || r.Rank != next {
					t.Fatalf("node %d of %d: %+v, want rank %d", size.NodeRank, size.Nodes, r, next)
				}
				next++
			}
		}
		if next != size.WorldSize() {
			t.Errorf("%d ranks in a world of %d", next, size.WorldSize())
		}
	}
}

func TestResolveRefuses(t *testing.T) {
	static := func(change func(*Request)) Request {
		req := Request{NNodes: ptr(4), NodeRank: ptr(0), MasterAddr: "n1", MasterPort: 29500, HasRunID: true}
		change(&req)
		return req
	}
	for _, test := range []struct {
		req  Request
		want string
	}{
		{Request{NProc: "0"}, "--nproc is 0, and a node runs at least 1 rank: use --nproc 1 or more, or auto"},
		{Request{NProc: "-2"}, "--nproc is -2, and a node runs at least 1 rank: use --nproc 1 or more, or auto"},
		{Request{NProc: "two"}, `--nproc is "two": use a number, auto, gpu or cpu`},
		{Request{NProc: "8.0"}, `--nproc is "8.0": use a number, auto, gpu or cpu`},
		{Request{NProc: "8\n9"}, `--nproc is "8\n9": use a number, auto, gpu or cpu`},
		{Request{NProc: strings.Repeat("9", 20)}, "--nproc is 99999999999999999999, more than can be counted: use a number of ranks that this host can run"},
		{Request{NProc: strings.Repeat("9", 20) + "\r\n"}, `--nproc is "99999999999999999999\r\n", more than can be counted: use a number of ranks that this host can run`},
		{Request{NProc: strings.Repeat("9", 200)}, "--nproc is " + strings.Repeat("9", 64) + "..., more than can be counted: use a number of ranks that this host can run"},
		{Request{NProc: "gpu"}, "--nproc is gpu, but no GPU was found here: use --nproc N, or look at CUDA_VISIBLE_DEVICES and nvidia-smi"},
		{Request{NProc: "gpu", GPUsKnown: true}, "--nproc is gpu, but no GPU was found here: use --nproc N, or look at CUDA_VISIBLE_DEVICES and nvidia-smi"},
		{Request{NProc: "gpu", GPUs: 4}, "--nproc is gpu, but no GPU was found here: use --nproc N, or look at CUDA_VISIBLE_DEVICES and nvidia-smi"},
		{Request{NProc: "cpu"}, "--nproc is cpu, but the CPUs could not be counted here: use --nproc N"},
		{Request{NProc: "x", Origin: map[string]string{"--nproc": "LENSLAUNCH_NPROC"}}, `LENSLAUNCH_NPROC is "x": use a number, auto, gpu or cpu`},
		{Request{NNodes: ptr(0)}, "--nnodes is 0: give the number of nodes, 1 or more"},
		{Request{NNodes: ptr(-1)}, "--nnodes is -1: give the number of nodes, 1 or more"},
		{Request{NodeRank: ptr(1)}, "--node-rank is 1, outside the 1 node: give a node rank from 0 to 0, or the right --nnodes"},
		{static(func(r *Request) { r.NodeRank = ptr(4) }), "--node-rank is 4, outside the 4 nodes: give a node rank from 0 to 3, or the right --nnodes"},
		{static(func(r *Request) { r.NodeRank = ptr(-1) }), "--node-rank is -1, outside the 4 nodes: give a node rank from 0 to 3, or the right --nnodes"},
		{Request{MasterPort: 65536}, "--master-port is 65536: give a port from 1 to 65535"},
		{Request{MasterPort: -1}, "--master-port is -1: give a port from 1 to 65535"},
		{Request{MasterAddr: "n1:29500"}, `--master-addr is "n1:29500", which is no host: give a name or an address alone, and the port with --master-port`},
		{Request{MasterAddr: "n1\nn2"}, `--master-addr is "n1\nn2", which is no host: give a name or an address alone, and the port with --master-port`},
		{static(func(r *Request) { r.NodeRank = nil }), "4 nodes cannot find each other: also give, on every node, --node-rank R (0 to 3)"},
		{static(func(r *Request) { r.MasterAddr = "" }), "4 nodes cannot find each other: also give, on every node, --master-addr A (a name of node 0)"},
		{static(func(r *Request) { r.MasterPort = 0 }), "4 nodes cannot find each other: also give, on every node, --master-port P (free on node 0)"},
		{static(func(r *Request) { r.HasRunID = false }), "4 nodes cannot find each other: also give, on every node, --run-id ID (the same on all nodes, a new one for every start)"},
		{Request{NNodes: ptr(2)}, "2 nodes cannot find each other: also give, on every node, --node-rank R (0 to 1), " +
			"--master-addr A (a name of node 0), --master-port P (free on node 0), --run-id ID (the same on all nodes, a new one for every start)"},
		{static(func(r *Request) { r.MaxRestarts = 3 }), "--max-restarts is 3 with 4 nodes, but nothing tells the other nodes when one of them restarts: " +
			"use --max-restarts 0 and start all nodes again, each time with a new --run-id"},
		{static(func(r *Request) { r.NProc = strconv.Itoa(math.MaxInt / 3) }),
			"3074457345618258602 local ranks on 4 nodes are more than can be counted: give a smaller --nproc or --nnodes"},
		{Request{Scheduler: "pbs"}, `--scheduler is "pbs": use auto, none, slurm or kubernetes`},
		{Request{Scheduler: "slurm"}, "--scheduler is slurm, but SLURM_JOB_ID is not set: start it with srun or sbatch, or use --scheduler none"},
		{Request{Scheduler: "kubernetes"}, "--scheduler is kubernetes, but KUBERNETES_SERVICE_HOST is not set: start it in a pod, or use --scheduler none"},
	} {
		got, err := Resolve(test.req, nil)
		if message := usage(t, err); message != test.want {
			t.Errorf("%+v\n got %s\nwant %s", test.req, message, test.want)
		}
		if diff := cmp.Diff(World{}, got); diff != "" {
			t.Errorf("a world beside an error:\n%s", diff)
		}
	}
}

// Whatever a scheduler's variables hold, the answer is a whole world or one line.
func FuzzResolve(f *testing.F) {
	f.Add("0", "n[1-2]", "2", "1(x2)", "n[1-2]", "2", "8", "n1")
	f.Add("-5", "n1", "1", "1", "n1", "1", "auto", "")
	f.Add("4294967290", "n[1", "x", "2(x", "\n", "0", "-1", "a:1")
	f.Fuzz(func(t *testing.T, id, list, nodes, tasks, jobList, jobNodes, nproc, addr string) {
		env := map[string]string{
			"SLURM_JOB_ID": id + "7", "SLURM_STEP_ID": id, "SLURM_STEP_NODELIST": list, "SLURM_STEP_NUM_NODES": nodes,
			"SLURM_STEP_TASKS_PER_NODE": tasks, "SLURM_JOB_NODELIST": jobList, "SLURM_JOB_NUM_NODES": jobNodes, "SLURM_HET_SIZE": nodes,
		}
		if len(id) < 3 {
			env["SLURM_NODEID"], env["SLURM_STEP_RESV_PORTS"] = id, nodes
		}
		got, err := Resolve(Request{NProc: nproc, MasterAddr: addr, HasRunID: true}, env)
		if err != nil {
			usage(t, err)
			return
		}
		if got.Nodes < 1 || got.NodeRank < 0 || got.NodeRank >= got.Nodes || got.LocalSize < 1 || len(got.Why) < 4 {
			t.Fatalf("%+v", got)
		}
		if got.MasterAddr == "" && (!got.InStep || len(got.Hosts) != got.Nodes) {
			t.Fatalf("nobody can find the head: %+v", got)
		}
		for _, line := range got.Why {
			if strings.ContainsAny(line, "\r\n") {
				t.Fatalf("not one line: %q", line)
			}
		}
	})
}

func ptr(n int) *int { return &n }

// usage returns the line of a UsageError; any other outcome fails the test.
func usage(t *testing.T, err error) string {
	t.Helper()
	var wrong *UsageError
	if !errors.As(err, &wrong) {
		t.Errorf("%v is not a UsageError", err)
		return ""
	}
	if wrong.Problem == "" || wrong.Hint == "" || strings.ContainsAny(err.Error(), "\r\n") {
		t.Errorf("not one line with a problem and a hint: %q", err.Error())
	}
	return err.Error()
}
