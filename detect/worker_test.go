package detect

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"lenslaunch/carrier"
)

func TestWorkerDefaults(t *testing.T) {
	host := Host{Hostname: node("n1"), Pid: 4711, FS: pod()}.WithGPUs(GPUSet{GPUs: []GPU{{Index: 0}, {Index: 1}}})
	env := map[string]string{"SLURM_JOB_ID": "5", "K8S_NAMESPACE": "ml", "SLURM_RESTART_COUNT": "2", "OTEL_RESOURCE_ATTRIBUTES": "slurm.job.id=stale"}
	want := []string{
		"host.name=STRING:n1", "host.gpu.count=INT64:2",
		"slurm.job.id=STRING:5", "slurm.job.id.raw=STRING:5", "slurm.array.job_id=STRING:5", "slurm.array.task_id=STRING:0",
		"slurm.array.count=INT64:1", "slurm.restart_count=INT64:2", "nv.dl.job.uuid=STRING:" + LensJobUUID(env), "k8s.namespace.name=STRING:ml",
	}
	// The carrier is the one that was captured, not whatever env holds by now.
	if diff := cmp.Diff(want, show(WorkerDefaults(env, host, nil))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	inherited := carrier.Parse("host.name=outside,slurm.job.id=9,slurm.job.id.raw=,nv.dl.job.uuid=j,slurm.array.count=x")
	want = []string{
		"host.gpu.count=INT64:2", "slurm.job.id.raw=STRING:5", "slurm.array.job_id=STRING:5", "slurm.array.task_id=STRING:0",
		"slurm.array.count=INT64:1", "slurm.restart_count=INT64:2", "k8s.namespace.name=STRING:ml",
	}
	if diff := cmp.Diff(want, show(WorkerDefaults(env, host, inherited))); diff != "" {
		t.Errorf("with inherited values (-want +got):\n%s", diff)
	}
}

// Facts of the launcher's own process are wrong in every worker.
func TestWorkerDefaultsTellNothingOfTheLauncher(t *testing.T) {
	for _, kv := range WorkerDefaults(map[string]string{"SLURM_JOB_ID": "1"}, SystemHost(), nil) {
		switch kv.Key {
		case ProcessPid, ServiceInstanceID, "nemo.run.id", "nv.dl.run.uuid", "nv.dl.role":
			t.Errorf("%s is among a worker's defaults", kv.Key)
		}
	}
	if got := WorkerDefaults(nil, Host{}, nil); len(got) != 0 {
		t.Errorf("a host that nothing is known of: %q", show(got))
	}
}
