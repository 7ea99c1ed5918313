package detect

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"go.opentelemetry.io/otel/attribute"

	"lenslaunch/semconv"
)

// here is a host without GPUs, of which nothing has to be asked.
func here() Host { return Host{Hostname: node("n1"), Pid: 42}.WithGPUs(GPUSet{}) }

// resource is Resource with its carrier apart from the other variables.
func resource(t *testing.T, carrier string, env map[string]string, caller ...attribute.KeyValue) []attribute.KeyValue {
	t.Helper()
	return Resource(t.Context(), with(env, "OTEL_RESOURCE_ATTRIBUTES", carrier), here(), caller)
}

func TestResourceWithoutALauncher(t *testing.T) {
	got := Resource(t.Context(), nil, here(), nil)
	id := must(t, got, "nemo.run.id").AsString()
	if _, err := uuid.Parse(id); err != nil {
		t.Errorf("the run id %q is no UUID: %v", id, err)
	}
	want := []string{"nemo.run.id=STRING:" + id, "host.name=STRING:n1", "process.pid=INT64:42"}
	if diff := cmp.Diff(want, show(got)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestResourceOfAWorker(t *testing.T) {
	got := resource(t, "operator=1,service.name=train,nv.dl.rank=5,nv.dl.world_size=8,nemo.run.id=abc123,nv.dl.run.uuid=u,slurm.nnodes=2",
		map[string]string{"SLURM_JOB_ID": "7", "NEMO_LENS_USER_ID": "team", "WANDB_ENTITY": "e", "WANDB_PROJECT": "p", "ENVIRONMENT": "lab", "CUDA_VISIBLE_DEVICES": "0,1"},
		attribute.String("service.version", "1.2.3"))
	want := []string{
		"operator=STRING:1", "service.name=STRING:train", "nv.dl.rank=INT64:5", "nv.dl.world_size=INT64:8", "nemo.run.id=STRING:abc123",
		"nv.dl.run.uuid=STRING:u", "slurm.nnodes=INT64:2", "nemo.user.id=STRING:team", "wandb.entity=STRING:e", "wandb.project=STRING:p",
		"deployment.environment=STRING:lab", "deployment.environment.name=STRING:lab", "service.version=STRING:1.2.3",
		"service.instance.id=STRING:abc123-rank5", "host.name=STRING:n1", "process.pid=INT64:42", "host.gpu.count=INT64:2",
		"slurm.job.id=STRING:7", "slurm.job.id.raw=STRING:7", "slurm.array.job_id=STRING:7", "slurm.array.task_id=STRING:0",
		"slurm.array.count=INT64:1", "slurm.restart_count=INT64:0", "nv.dl.job.uuid=STRING:f9f08413-8d27-50e7-bbee-41ce6d4a3c5a",
	}
	if diff := cmp.Diff(want, show(got)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Which source wins, key by key.
func TestResourcePrecedence(t *testing.T) {
	s := attribute.String
	for _, test := range []struct {
		what    string
		carrier string
		env     map[string]string
		caller  []attribute.KeyValue
		key     string
		want    string // as show writes the value; "" for absent
	}{
		{"the service's variable wins", "service.name=c", map[string]string{"OTEL_SERVICE_NAME": "v"}, []attribute.KeyValue{s("service.name", "d")}, "service.name", "STRING:v"},
		{"the carrier's service name", "service.name=c", nil, []attribute.KeyValue{s("service.name", "d")}, "service.name", "STRING:c"},
		{"the caller's is the default", "service.name=", nil, []attribute.KeyValue{s("service.name", "d")}, "service.name", "STRING:d"},
		{"the caller wins over the carrier", "team=c", nil, []attribute.KeyValue{s("team", "d")}, "team", "STRING:d"},
		{"the caller wins over the base", "", map[string]string{"NEMO_LENS_USER_ID": "v"}, []attribute.KeyValue{s("nemo.user.id", "d")}, "nemo.user.id", "STRING:d"},
		{"the base wins over the carrier", "nemo.user.id=c", map[string]string{"NEMO_LENS_USER_ID": "v"}, nil, "nemo.user.id", "STRING:v"},
		{"an empty base variable is none", "nemo.user.id=c", map[string]string{"NEMO_LENS_USER_ID": ""}, nil, "nemo.user.id", "STRING:c"},
		{"the first environment variable", "", map[string]string{"DEPLOYMENT_ENV": "prod", "ENVIRONMENT": "BATCH"}, nil, "deployment.environment", "STRING:prod"},
		{"an inherited Slurm key is authoritative", "slurm.job.name=c", map[string]string{"SLURM_JOB_ID": "1", "SLURM_JOB_NAME": "v"}, []attribute.KeyValue{s("slurm.job.name", "d")}, "slurm.job.name", "STRING:c"},
		{"an inherited attempt is authoritative", "nv.dl.run.uuid=c", nil, []attribute.KeyValue{s("nv.dl.run.uuid", "d")}, "nv.dl.run.uuid", "STRING:c"},
		{"the caller's attempt is a default", "nv.dl.run.uuid=", nil, []attribute.KeyValue{s("nv.dl.run.uuid", "d")}, "nv.dl.run.uuid", "STRING:d"},
		{"an invalid Slurm integer is left out", "slurm.nnodes=x", nil, nil, "slurm.nnodes", ""},
		{"an empty Slurm key is left out", "slurm.job.name=", nil, nil, "slurm.job.name", ""},
		{"an invalid one lets the caller's through", "slurm.nnodes=x", nil, []attribute.KeyValue{attribute.Int("slurm.nnodes", 3)}, "slurm.nnodes", "INT64:3"},
		{"detection wins over both channels", "host.name=c,process.pid=1", nil, []attribute.KeyValue{s("host.name", "d")}, "host.name", "STRING:n1"},
		{"an inherited pid is another process's", "process.pid=1", nil, nil, "process.pid", "INT64:42"},
		{"the caller's run id", "nemo.run.id=c", map[string]string{"NEMO_LENS_RUN_ID": "v"}, []attribute.KeyValue{s("nemo.run.id", "d")}, "nemo.run.id", "STRING:d"},
		{"the carrier's run id", "nemo.run.id=c", map[string]string{"NEMO_LENS_RUN_ID": "v"}, nil, "nemo.run.id", "STRING:c"},
		{"the variable's run id", "nemo.run.id=", map[string]string{"NEMO_LENS_RUN_ID": "v"}, nil, "nemo.run.id", "STRING:v"},
		{"null takes away", "team=c", nil, []attribute.KeyValue{semconv.Null("team")}, "team", ""},
		{"empty is a value", "team=c", nil, []attribute.KeyValue{s("team", "")}, "team", "STRING:"},
		{"a number of an unknown key is text", "job=007", nil, nil, "job", "STRING:007"},
		{"Kubernetes", "k8s.pod.name=c", map[string]string{"KUBERNETES_SERVICE_HOST": "h", "HOSTNAME": "pod"}, nil, "k8s.pod.name", "STRING:pod"},
	} {
		got := ""
		if v, ok := semconv.Get(resource(t, test.carrier, test.env, test.caller...), test.key); ok {
			got = show([]attribute.KeyValue{{Key: "k", Value: v}})[0][len("k="):]
		}
		if got != test.want {
			t.Errorf("%s: %s is %q, want %q", test.what, test.key, got, test.want)
		}
	}
}

// A rank gives the same instance whichever channel it came through.
func TestResourceInstance(t *testing.T) {
	rank := attribute.Int("nv.dl.rank", 5)
	for _, test := range []struct {
		what    string
		carrier string
		caller  []attribute.KeyValue
		want    string
	}{
		{"a rank in the carrier", "nv.dl.rank=5,nemo.run.id=r", nil, "r-rank5"},
		{"a rank of the caller", "nemo.run.id=r", []attribute.KeyValue{rank}, "r-rank5"},
		{"a caller's rank as text", "nemo.run.id=r", []attribute.KeyValue{attribute.String("nv.dl.rank", " 5 ")}, "r-rank5"},
		{"both: the caller's", "nv.dl.rank=3,nemo.run.id=r", []attribute.KeyValue{rank}, "r-rank5"},
		{"a caller that names itself", "nv.dl.rank=5,nemo.run.id=r", []attribute.KeyValue{attribute.String("service.instance.id", "me")}, "me"},
		{"an instance that was the parent's", "nv.dl.rank=3,nemo.run.id=r,service.instance.id=r-rank3", []attribute.KeyValue{rank}, "r-rank5"},
		{"no rank", "nemo.run.id=r", nil, ""},
		{"no rank, and a name in the carrier", "nemo.run.id=r,service.instance.id=agent", nil, "agent"},
		{"a rank that is none", "nemo.run.id=r,nv.dl.rank=five", nil, ""},
		{"a rank taken away", "nemo.run.id=r,nv.dl.rank=5", []attribute.KeyValue{semconv.Null("nv.dl.rank")}, ""},
	} {
		v, _ := semconv.Get(resource(t, test.carrier, nil, test.caller...), ServiceInstanceID)
		if got := v.AsString(); got != test.want {
			t.Errorf("%s: %q, want %q", test.what, got, test.want)
		}
	}
}

// A value of the wrong type stays, and its key is named, once, with its channel.
func TestResourceNamesInvalidValues(t *testing.T) {
	var log bytes.Buffer
	host := here()
	host.Log = slog.New(slog.NewTextHandler(&log, nil))
	env := map[string]string{"OTEL_RESOURCE_ATTRIBUTES": "nv.dl.rank=five,nv.gpu.index=0,slurm.nnodes=x"}
	got := Resource(t.Context(), env, host, []attribute.KeyValue{attribute.Bool("nv.dl.world_size", true)})
	if v := must(t, got, "nv.dl.rank").AsString(); v != "five" {
		t.Errorf("nv.dl.rank is %q", v)
	}
	if v := must(t, got, "nv.gpu.index").AsInt64(); v != 0 {
		t.Errorf("nv.gpu.index is %d", v)
	}
	lines := strings.Split(strings.TrimSpace(log.String()), "\n")
	if len(lines) != 2 || !strings.Contains(lines[0], "key=nv.dl.rank channel=carrier") || !strings.Contains(lines[1], "key=nv.dl.world_size channel=caller") {
		t.Errorf("the log says:\n%s", log.String())
	}
}

// The query is made only where nothing else answers.
func TestResourceAsksForGPUs(t *testing.T) {
	dir := fakeSMI(t, `echo "0, GPU-1, H100, 0000:19:00.0, 1, 9.0, 1, 550"`)
	host := Host{Path: dir}
	if n := must(t, Resource(t.Context(), nil, host, nil), HostGPUCount).AsInt64(); n != 1 {
		t.Errorf("%d GPUs", n)
	}
	host.Path = fakeSMI(t, "echo must not be run; exit 1")
	var log bytes.Buffer
	host.Log = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	if n := must(t, Resource(t.Context(), map[string]string{visibleDevices: "0,1"}, host, nil), HostGPUCount).AsInt64(); n != 2 {
		t.Errorf("%d GPUs by the variable", n)
	}
	if n := must(t, Resource(t.Context(), nil, host.WithGPUs(hopper), nil), HostGPUCount).AsInt64(); n != 3 {
		t.Errorf("%d GPUs by an earlier answer", n)
	}
	if strings.Contains(log.String(), "must not be run") {
		t.Errorf("the program was run:\n%s", log.String())
	}
}

// The caller's list is an argument, not a scratch pad.
func TestResourceLeavesItsArgumentsAlone(t *testing.T) {
	caller := make([]attribute.KeyValue, 2, 64)
	caller[0], caller[1] = attribute.String("nv.dl.rank", "1"), attribute.String("service.name", "s")
	before := show(caller[:cap(caller)])
	resource(t, "slurm.job.id=1", nil, caller...)
	if diff := cmp.Diff(before, show(caller[:cap(caller)])); diff != "" {
		t.Errorf("(-before +after):\n%s", diff)
	}
}
