package ranks

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// variables are all flags of a request as they come from the environment.
func variables() map[string]string {
	names := map[string]string{}
	for _, flag := range []string{"--nproc", "--nnodes", "--node-rank", "--master-addr", "--master-port", "--max-restarts", "--scheduler"} {
		names[flag] = "LENSLAUNCH_" + strings.ToUpper(strings.ReplaceAll(flag[2:], "-", "_"))
	}
	return names
}

// Where a variable said it, the reasons name the variable: a flag that nobody
// typed is nothing to look for.
func TestWhyNamesTheOrigin(t *testing.T) {
	got, err := Resolve(Request{
		NProc: "2", NNodes: ptr(2), NodeRank: ptr(1), MasterAddr: "a", MasterPort: 1, Scheduler: "none", HasRunID: true,
		Origin: variables(),
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"2 local ranks from LENSLAUNCH_NPROC", "no scheduler from LENSLAUNCH_SCHEDULER", "2 nodes from LENSLAUNCH_NNODES",
		"node rank 1 of 2 from LENSLAUNCH_NODE_RANK", "master address a from LENSLAUNCH_MASTER_ADDR", "master port 1 from LENSLAUNCH_MASTER_PORT",
	}
	if diff := cmp.Diff(want, got.Why); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestErrorsNameTheOrigin(t *testing.T) {
	several := Request{NNodes: ptr(2), NodeRank: ptr(0), MasterAddr: "n1", MasterPort: 1, HasRunID: true, MaxRestarts: 1}
	for name, req := range map[string]Request{
		"LENSLAUNCH_NPROC":        {NProc: "none"},
		"LENSLAUNCH_NNODES":       {NNodes: ptr(0)},
		"LENSLAUNCH_NODE_RANK":    {NodeRank: ptr(1)},
		"LENSLAUNCH_MASTER_ADDR":  {MasterAddr: "n1:1"},
		"LENSLAUNCH_MASTER_PORT":  {MasterPort: 65536},
		"LENSLAUNCH_MAX_RESTARTS": several,
		"LENSLAUNCH_SCHEDULER":    {Scheduler: "lsf"},
	} {
		req.Origin = variables()
		_, err := Resolve(req, nil)
		if message := usage(t, err); !strings.HasPrefix(message, name+" is ") {
			t.Errorf("%s is not named: %s", name, message)
		}
	}
}

// Asking for Slurm or Kubernetes where it is not is a mistake, and none is ever
// assumed because of one variable too many.
func TestSchedulersThatAreNotThere(t *testing.T) {
	leftovers := map[string]string{
		"SLURM_JOB_ID": "", "SLURM_NNODES": "4", "SLURM_STEP_ID": "0", "SLURM_STEP_NODELIST": "n[1-4]", "SLURM_STEP_NUM_NODES": "4",
		"JOB_COMPLETION_INDEX": "2",
	}
	for _, scheduler := range []string{"", "auto", "none"} {
		got, err := Resolve(Request{Scheduler: scheduler}, leftovers)
		if err != nil || got.Nodes != 1 || got.InStep {
			t.Errorf("--scheduler %q: %+v, %v", scheduler, got, err)
		}
	}
	for _, scheduler := range []string{"slurm", "kubernetes", "SLURM", "Auto", " "} {
		_, err := Resolve(Request{Scheduler: scheduler}, leftovers)
		usage(t, err)
	}
}
