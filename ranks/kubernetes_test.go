package ranks

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The variables that each kind of job gives its pods, as its operator sets them.
func pytorchJob(index string) map[string]string {
	return map[string]string{
		"KUBERNETES_SERVICE_HOST": "10.96.0.1", "HOSTNAME": "train-worker-0",
		// For its own protocol; no launcher may read it.
		"MASTER_ADDR": "train-master-0", "MASTER_PORT": "23456", "WORLD_SIZE": "3", "RANK": index, "PYTHONUNBUFFERED": "1",
		"PET_NPROC_PER_NODE": "auto", "PET_NNODES": "3", "PET_NODE_RANK": index, "PET_MASTER_ADDR": "train-master-0", "PET_MASTER_PORT": "23456",
	}
}

func trainJob(index string) map[string]string {
	return map[string]string{
		"KUBERNETES_SERVICE_HOST": "10.96.0.1", "JOB_COMPLETION_INDEX": index,
		"PET_NNODES": "2", "PET_NPROC_PER_NODE": "4", "PET_NODE_RANK": index,
		"PET_MASTER_ADDR": "train-node-0-0.train", "PET_MASTER_PORT": "29400",
	}
}

func TestKubeflow(t *testing.T) {
	got, err := Resolve(Request{NProc: "2", NProcSet: true, HasRunID: true}, pytorchJob("1"))
	want := World{
		Nodes: 3, NodeRank: 1, LocalSize: 2, MasterAddr: "train-master-0", MasterPort: 23456, Scheduler: "kubernetes",
		Why: []string{
			"2 local ranks from --nproc", "3 nodes from PET_NNODES", "node rank 1 of 3 from PET_NODE_RANK",
			"master address train-master-0 from PET_MASTER_ADDR", "master port 23456 from PET_MASTER_PORT",
		},
	}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("PyTorchJob: %v (-want +got):\n%s", err, diff)
	}
	got, err = Resolve(Request{NProc: "auto", HasRunID: true}, trainJob("1"))
	want = World{
		Nodes: 2, NodeRank: 1, LocalSize: 4, MasterAddr: "train-node-0-0.train", MasterPort: 29400, Scheduler: "kubernetes",
		Why: []string{
			"4 local ranks from PET_NPROC_PER_NODE", "2 nodes from PET_NNODES", "node rank 1 of 2 from PET_NODE_RANK",
			"master address train-node-0-0.train from PET_MASTER_ADDR", "master port 29400 from PET_MASTER_PORT",
		},
	}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("TrainJob: %v (-want +got):\n%s", err, diff)
	}
	// The operator's variables are enough, also where the pod hides the cluster.
	if got, err = Resolve(Request{HasRunID: true}, with(trainJob("0"), "KUBERNETES_SERVICE_HOST", "unset")); err != nil || got.Nodes != 2 {
		t.Errorf("without the cluster's address: %+v, %v", got, err)
	}
}

func TestFlagsWinOverKubeflow(t *testing.T) {
	req := Request{NProc: "1", NProcSet: true, NNodes: ptr(4), NodeRank: ptr(3), MasterAddr: "a", MasterPort: 1, HasRunID: true}
	got, err := Resolve(req, trainJob("1"))
	if err != nil || got.Nodes != 4 || got.NodeRank != 3 || got.LocalSize != 1 || got.MasterAddr != "a" || got.MasterPort != 1 {
		t.Errorf("%+v, %v", got, err)
	}
	if got, err = Resolve(Request{Scheduler: "none"}, trainJob("1")); err != nil || got.Nodes != 1 || got.LocalSize != 1 {
		t.Errorf("--scheduler none: %+v, %v", got, err)
	}
	// One node of several, on purpose.
	if got, err = Resolve(Request{NNodes: ptr(1)}, trainJob("1")); err != nil || got.Nodes != 1 || got.NodeRank != 0 || got.MasterAddr != "127.0.0.1" {
		t.Errorf("--nnodes 1: %+v, %v", got, err)
	}
}

func TestIndexedJob(t *testing.T) {
	env := map[string]string{"KUBERNETES_SERVICE_HOST": "10.96.0.1", "JOB_COMPLETION_INDEX": "3"}
	// Pods that have nothing to do with each other.
	got, err := Resolve(Request{NProc: "2"}, env)
	if err != nil || got.Nodes != 1 || got.NodeRank != 0 {
		t.Errorf("without --nnodes: %+v, %v", got, err)
	}
	req := Request{NNodes: ptr(4), MasterAddr: "train-0.train", MasterPort: 29500, HasRunID: true}
	got, err = Resolve(req, env)
	if err != nil || got.NodeRank != 3 || got.MasterAddr != "train-0.train" {
		t.Errorf("with --nnodes: %+v, %v", got, err)
	}
	if got, err = Resolve(req, with(env, "JOB_COMPLETION_INDEX", "0")); err != nil || got.NodeRank != 0 {
		t.Errorf("the first pod: %+v, %v", got, err)
	}
	_, err = Resolve(req, with(env, "JOB_COMPLETION_INDEX", "4"))
	if message := usage(t, err); !strings.HasPrefix(message, "JOB_COMPLETION_INDEX is 4, outside the 4 nodes") {
		t.Error(message)
	}
	_, err = Resolve(Request{NNodes: ptr(4)}, env)
	want := "4 nodes cannot find each other: also give, on every node, --master-addr A (a name of node 0), " +
		"--master-port P (free on node 0), --run-id ID (the same on all nodes, a new one for every start)"
	if message := usage(t, err); message != want {
		t.Errorf(" got %s\nwant %s", message, want)
	}
	_, err = Resolve(Request{NNodes: ptr(4)}, with(env, "JOB_COMPLETION_INDEX", "unset"))
	if message := usage(t, err); !strings.Contains(message, "--node-rank R (0 to 3)") {
		t.Error(message)
	}
}

// Several Jobs of one JobSet: the place is that of the Job times its pods.
func TestJobSet(t *testing.T) {
	env := map[string]string{
		"KUBERNETES_SERVICE_HOST": "10.96.0.1", "JOB_COMPLETION_INDEX": "1",
		"LENSLAUNCH_JOB_GLOBAL_INDEX": "2", "LENSLAUNCH_PODS_PER_JOB": "4",
	}
	req := Request{NNodes: ptr(12), MasterAddr: "train-slice-0-0.train", MasterPort: 29500, HasRunID: true}
	got, err := Resolve(req, env)
	if err != nil || got.NodeRank != 9 {
		t.Fatalf("%+v, %v", got, err)
	}
	if want := "node rank 9 of 12 from LENSLAUNCH_JOB_GLOBAL_INDEX 2 x LENSLAUNCH_PODS_PER_JOB 4 + JOB_COMPLETION_INDEX 1"; got.Why[2] != want {
		t.Errorf("%q, want %q", got.Why[2], want)
	}
	for _, test := range []struct{ name, value, want string }{
		{"LENSLAUNCH_PODS_PER_JOB", "unset", "LENSLAUNCH_JOB_GLOBAL_INDEX is set, but LENSLAUNCH_PODS_PER_JOB is not"},
		{"LENSLAUNCH_JOB_GLOBAL_INDEX", "", "LENSLAUNCH_PODS_PER_JOB is 4 of 12 nodes, but LENSLAUNCH_JOB_GLOBAL_INDEX is empty"},
		{"LENSLAUNCH_JOB_GLOBAL_INDEX", "unset", "LENSLAUNCH_JOB_GLOBAL_INDEX is empty"},
		{"LENSLAUNCH_PODS_PER_JOB", "1", "JOB_COMPLETION_INDEX is 1 with LENSLAUNCH_PODS_PER_JOB 1"},
		{"LENSLAUNCH_PODS_PER_JOB", "0", `LENSLAUNCH_PODS_PER_JOB is "0"`},
		{"LENSLAUNCH_JOB_GLOBAL_INDEX", "x\n", `LENSLAUNCH_JOB_GLOBAL_INDEX is "x\n"`},
		{"JOB_COMPLETION_INDEX", "-1", `JOB_COMPLETION_INDEX is "-1"`},
		{"LENSLAUNCH_JOB_GLOBAL_INDEX", "3", "JobGlobalIndex outside"},
	} {
		_, err := Resolve(req, with(env, test.name, test.value))
		if message := usage(t, err); !strings.Contains(message, test.want) && !strings.Contains(message, "is 13, outside the 12 nodes") {
			t.Errorf(" got %s\nwant %s", message, test.want)
		}
	}
	// One Job is all pods.
	req.NNodes = ptr(4)
	if got, err := Resolve(req, with(env, "LENSLAUNCH_JOB_GLOBAL_INDEX", "unset")); err != nil || got.NodeRank != 1 {
		t.Errorf("one Job: %+v, %v", got, err)
	}
	_, err = Resolve(Request{NNodes: ptr(12), MasterAddr: "a", MasterPort: 1, HasRunID: true, MaxRestarts: 1}, env)
	if message := usage(t, err); !strings.Contains(message, "examples/kubernetes") {
		t.Error(message)
	}
}

func TestKubeflowThatCannotBe(t *testing.T) {
	for _, test := range []struct{ name, value, want string }{
		{"PET_NNODES", "1:4", `PET_NNODES is "1:4", which means an elastic job`},
		{"PET_NNODES", "0", `PET_NNODES is "0"`},
		{"PET_NNODES", "two", `PET_NNODES is "two"`},
		{"PET_NODE_RANK", "2", "PET_NODE_RANK is 2, outside the 2 nodes"},
		{"PET_NODE_RANK", "1.0", `PET_NODE_RANK is "1.0"`},
		{"PET_MASTER_PORT", "99999", `PET_MASTER_PORT is "99999"`},
		{"PET_MASTER_PORT", "unset", "--master-port P"},
		{"PET_MASTER_ADDR", "", "--master-addr A"},
		{"PET_MASTER_ADDR", "a:1", `PET_MASTER_ADDR is "a:1", which is no host`},
		{"PET_MASTER_ADDR", "[fd00::1]", `PET_MASTER_ADDR is "[fd00::1]", which is no host`},
		{"PET_MASTER_ADDR", "fd00::1::2", `PET_MASTER_ADDR is "fd00::1::2", which is no host`},
		{"PET_NPROC_PER_NODE", "many", `PET_NPROC_PER_NODE is "many"`},
	} {
		_, err := Resolve(Request{HasRunID: true}, with(trainJob("1"), test.name, test.value))
		if message := usage(t, err); !strings.Contains(message, test.want) {
			t.Errorf("%s=%q:\n got %s\nwant %s", test.name, test.value, message, test.want)
		}
	}
	if got, err := Resolve(Request{HasRunID: true}, with(trainJob("1"), "PET_MASTER_ADDR", "fd00::1")); err != nil || got.MasterAddr != "fd00::1" {
		t.Errorf("an IPv6 head: %+v, %v", got, err)
	}
	// A range of one size is a size, and flags make an elastic one fixed.
	if got, err := Resolve(Request{HasRunID: true}, with(trainJob("1"), "PET_NNODES", "2:2")); err != nil || got.Nodes != 2 {
		t.Errorf("2:2: %+v, %v", got, err)
	}
	if got, err := Resolve(Request{HasRunID: true, NNodes: ptr(2)}, with(trainJob("1"), "PET_NNODES", "1:4")); err != nil || got.NodeRank != 1 {
		t.Errorf("--nnodes 2 of 1:4: %+v, %v", got, err)
	}
}

// Whatever a pod's variables hold, the answer is a whole world or one line.
func FuzzResolveInAPod(f *testing.F) {
	f.Add("2", "1", "a", "29400", "4", "1", "", "")
	f.Add("1:4", "-1", "a:1", "0", "gpu", "0", "2", "4")
	f.Add("", "", "", "", "", "3", "9223372036854775807", "2")
	f.Fuzz(func(t *testing.T, nodes, rank, addr, port, nproc, index, job, pods string) {
		env := map[string]string{
			"KUBERNETES_SERVICE_HOST": "10.96.0.1", "PET_NNODES": nodes, "PET_NODE_RANK": rank, "PET_MASTER_ADDR": addr, "PET_MASTER_PORT": port,
			"PET_NPROC_PER_NODE": nproc, "JOB_COMPLETION_INDEX": index, "LENSLAUNCH_JOB_GLOBAL_INDEX": job, "LENSLAUNCH_PODS_PER_JOB": pods,
		}
		for _, nnodes := range []*int{nil, ptr(1), ptr(8)} {
			got, err := Resolve(Request{NNodes: nnodes, HasRunID: true}, env)
			if err != nil {
				usage(t, err)
				continue
			}
			if got.NodeRank < 0 || got.NodeRank >= got.Nodes || got.LocalSize < 1 || got.MasterAddr == "" || got.Nodes > 1 && got.MasterPort == 0 {
				t.Fatalf("%+v", got)
			}
			if strings.ContainsAny(strings.Join(got.Why, ""), "\r\n") {
				t.Fatalf("not one line each: %q", got.Why)
			}
		}
	})
}
