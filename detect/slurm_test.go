package detect

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/otel/attribute"
)

func TestSlurmVectors(t *testing.T) {
	for i, v := range readVectors(t).Slurm {
		if diff := cmp.Diff(show(v.Out), show(Slurm(v.Env))); diff != "" {
			t.Errorf("vector %d, %v (-want +got):\n%s", i, v.Env, diff)
		}
	}
}

// The whole of what real jobs give: a batch script, a step of an array element on
// its second node, and a step after a requeue.
func TestSlurmOnCapturedEnvironments(t *testing.T) {
	for name, want := range map[string][]string{
		"22.05.8-sbatch-batch": {
			"slurm.job.id=STRING:2", "slurm.job.id.raw=STRING:2", "slurm.array.job_id=STRING:2", "slurm.array.task_id=STRING:0",
			"slurm.array.count=INT64:1", "slurm.job.name=STRING:train", "slurm.cluster.name=STRING:lab", "slurm.partition=STRING:main",
			"slurm.nnodes=INT64:2", "slurm.ntasks=INT64:2", "slurm.restart_count=INT64:0", "slurm.job.user=STRING:user1",
			"slurm.job.account=STRING:acct1", "slurm.topology.addr=STRING:n1", "slurm.topology.addr_pattern=STRING:node",
			"slurm.head_node.name=STRING:n1", "nv.dl.job.uuid=STRING:" + urlUUID("nemo.lens.job/lab/2"),
		},
		"26.05.3-array-step-rank1": {
			"slurm.job.id=STRING:3_9", "slurm.job.id.raw=STRING:3", "slurm.array.job_id=STRING:3", "slurm.array.task_id=STRING:9",
			"slurm.array.count=INT64:4", "slurm.job.name=STRING:cap.sh", "slurm.cluster.name=STRING:lab", "slurm.partition=STRING:main",
			"slurm.nnodes=INT64:2", "slurm.ntasks=INT64:2", "slurm.restart_count=INT64:0", "slurm.job.user=STRING:user1",
			"slurm.topology.addr=STRING:n2", "slurm.topology.addr_pattern=STRING:node",
			"nv.dl.job.uuid=STRING:" + urlUUID("nemo.lens.job/lab/3"),
		},
		"26.05.3-requeue1-step-rank0": {
			"slurm.job.id=STRING:9", "slurm.job.id.raw=STRING:9", "slurm.array.job_id=STRING:9", "slurm.array.task_id=STRING:0",
			"slurm.array.count=INT64:1", "slurm.job.name=STRING:capr.sh", "slurm.cluster.name=STRING:lab", "slurm.partition=STRING:main",
			"slurm.nnodes=INT64:2", "slurm.ntasks=INT64:2", "slurm.restart_count=INT64:1", "slurm.job.user=STRING:user1",
			"slurm.topology.addr=STRING:n1", "slurm.topology.addr_pattern=STRING:node",
			"nv.dl.job.uuid=STRING:" + urlUUID("nemo.lens.job/lab/9"),
		},
	} {
		if diff := cmp.Diff(want, show(Slurm(captured(t, name)))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestSlurmDerivation(t *testing.T) {
	for _, test := range []struct {
		what string
		env  map[string]string
		key  string
		want string // as show writes it; "" for absent
	}{
		{"an element without a task number", map[string]string{"SLURM_ARRAY_JOB_ID": "5", "SLURM_ARRAY_TASK_ID": ""}, "slurm.job.id", "slurm.job.id=STRING:5_"},
		{"its task", map[string]string{"SLURM_ARRAY_JOB_ID": "5", "SLURM_ARRAY_TASK_ID": ""}, "slurm.array.task_id", ""},
		{"an element without an array", map[string]string{"SLURM_ARRAY_TASK_ID": "2"}, "slurm.job.id", "slurm.job.id=STRING:1"},
		{"an array job's id without a task", map[string]string{"SLURM_ARRAY_JOB_ID": "5"}, "slurm.job.id", "slurm.job.id=STRING:1"},
		{"an empty count", map[string]string{"SLURM_ARRAY_TASK_COUNT": ""}, "slurm.array.count", "slurm.array.count=INT64:1"},
		{"no count", map[string]string{"SLURM_ARRAY_TASK_COUNT": "four"}, "slurm.array.count", ""},
		{"an empty restart count", map[string]string{"SLURM_RESTART_COUNT": ""}, "slurm.restart_count", "slurm.restart_count=INT64:0"},
		{"no restart count", map[string]string{"SLURM_RESTART_COUNT": "1.0"}, "slurm.restart_count", ""},
		{"signs and space", map[string]string{"SLURM_NTASKS": " +8\t"}, "slurm.ntasks", "slurm.ntasks=INT64:8"},
		{"the second SLUID", map[string]string{"LENS_SLURM_SLUID": "", "NV_LAUNCH_SLUID": "b"}, "slurm.sluid", "slurm.sluid=STRING:b"},
		{"Slurm's own SLUID is another variable", map[string]string{"SLURM_JOB_SLUID": "b"}, "slurm.sluid", ""},
		{"26.05's batch script has a step id", map[string]string{"SLURMD_NODENAME": "n", "SLURM_STEP_ID": "-5"}, "slurm.head_node.name", ""},
		{"an empty step id is none", map[string]string{"SLURMD_NODENAME": "n", "SLURM_STEP_ID": ""}, "slurm.head_node.name", "slurm.head_node.name=STRING:n"},
		{"the attempt is never derived", map[string]string{"TORCHELASTIC_RESTART_COUNT": "1"}, "nv.dl.run.uuid", ""},
		{"retired keys are never emitted", map[string]string{"SLURM_NODELIST": "n[1-2]"}, "slurm.nodelist", ""},
	} {
		got := ""
		for _, kv := range Slurm(with(test.env, "SLURM_JOB_ID", "1")) {
			if string(kv.Key) == test.key {
				got += show([]attribute.KeyValue{kv})[0]
			}
		}
		if got != test.want {
			t.Errorf("%s: %q, want %q", test.what, got, test.want)
		}
	}
}

// An inherited value that counts wins, one that does not is no value at all.
func TestSlurmInheritance(t *testing.T) {
	for _, test := range []struct {
		carrier string
		want    []string // without SLURM_JOB_ID: what is inherited, and only that
	}{
		{"", []string{}},
		{"slurm.job.name=,nv.dl.job.uuid=,slurm.nnodes=", []string{}},
		{"slurm.nnodes=4x,slurm.ntasks=99999999999999999999", []string{}},
		{"unknown=1,service.name=s,nv.dl.rank=3,nemo.run.id=r", []string{}},
		{"slurm.nodelist=n,slurm.cluster=c,slurm.torchelastic.restart_count=1", []string{}},
		{"slurm.ntasks=-3,slurm.job.id=007,nv.dl.run.uuid=r", []string{"slurm.ntasks=INT64:-3", "slurm.job.id=STRING:007", "nv.dl.run.uuid=STRING:r"}},
		{"slurm.job.name=%20", []string{"slurm.job.name=STRING: "}},
	} {
		if diff := cmp.Diff(test.want, show(Slurm(map[string]string{"OTEL_RESOURCE_ATTRIBUTES": test.carrier}))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.carrier, diff)
		}
	}
	env := map[string]string{
		"SLURM_JOB_ID": "1", "SLURM_JOB_NAME": "local", "SLURM_NTASKS": "2",
		"OTEL_RESOURCE_ATTRIBUTES": "slurm.job.name=inherited,slurm.ntasks=x,nv.dl.job.uuid=",
	}
	got := Slurm(env)
	if name := must(t, got, "slurm.job.name").AsString(); name != "inherited" {
		t.Errorf("slurm.job.name is %q", name)
	}
	if n := must(t, got, "slurm.ntasks").AsInt64(); n != 2 {
		t.Errorf("slurm.ntasks is %d", n)
	}
	if id := must(t, got, "nv.dl.job.uuid").AsString(); id != LensJobUUID(env) {
		t.Errorf("nv.dl.job.uuid is %q", id)
	}
}

// Every key that can be derived is one that can be inherited, and the other way
// round but for the attempt: the two lists cannot drift apart.
func TestSlurmCoversTheAllowlist(t *testing.T) {
	env := map[string]string{"SLURM_JOB_ID": "1", "SLURM_NNODES": "1", "SLURM_NTASKS": "1"}
	for _, name := range []string{
		"LENS_SLURM_SLUID", "NV_LAUNCH_ARRAY_SLUID", "SLURM_JOB_NAME", "SLURM_CLUSTER_NAME", "SLURM_PARTITION", "SLURMD_NODENAME",
		"SLURM_JOB_USER", "SLURM_JOB_ACCOUNT", "SLURM_JOB_QOS", "SLURM_JOB_RESERVATION", "SLURM_SEGMENT",
		"SLURM_TOPOLOGY_ADDR", "SLURM_TOPOLOGY_ADDR_PATTERN",
	} {
		env[name] = "x"
	}
	want := allowlist()
	delete(want, "nv.dl.run.uuid")
	got := map[string]bool{}
	for _, kv := range Slurm(env) {
		got[string(kv.Key)] = true
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("derived keys (-allowlist +derived):\n%s", diff)
	}
}
