package detect

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/otel/attribute"

	"lenslaunch/carrier"
	"lenslaunch/semconv"
)

func TestSanitizeInherited(t *testing.T) {
	text := "service.name=,first=1,slurm.job.name=,slurm.nnodes=four,slurm.ntasks=+9,slurm.restart_count=," +
		"nv.dl.job.uuid=,nv.dl.run.uuid=r,nemo.run.id=,nv.dl.role=,nv.dl.rank=x,slurm.nodelist=,slurm.cluster=c," +
		"slurm.torchelastic.restart_count=x,host.name=,k8s.pod.name=,slurm.job.id=007,unknown="
	list := carrier.Parse(text)
	before := show(list)
	want := stringAttrs("service.name", "", "first", "1", "slurm.ntasks", "+9", "nv.dl.run.uuid", "r", "nv.dl.role", "", "nv.dl.rank", "x",
		"slurm.nodelist", "", "slurm.cluster", "c", "slurm.torchelastic.restart_count", "x", "host.name", "", "k8s.pod.name", "",
		"slurm.job.id", "007", "unknown", "")
	if diff := cmp.Diff(want, show(SanitizeInherited(list))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(before, show(list)); diff != "" {
		t.Errorf("the argument was changed:\n%s", diff)
	}
	if got := SanitizeInherited(nil); len(got) != 0 {
		t.Errorf("of nothing: %q", show(got))
	}
	typed := []attribute.KeyValue{attribute.Int("slurm.nnodes", 4), attribute.Bool("slurm.ntasks", true), semconv.Null("slurm.job.id"), semconv.Null("other")}
	if diff := cmp.Diff(show([]attribute.KeyValue{typed[0], typed[3]}), show(SanitizeInherited(typed))); diff != "" {
		t.Errorf("typed values (-want +got):\n%s", diff)
	}
}

// What the composition of a worker's carrier relies on: a value that does not
// count lets the detected one through, and one that counts stays as it was.
func TestSanitizedCarrierLetsDetectionThrough(t *testing.T) {
	env := map[string]string{"SLURM_JOB_ID": "12", "SLURM_JOB_NAME": "train", "SLURM_NNODES": "1"}
	base := carrier.Parse("slurm.job.name=,slurm.nnodes=x,slurm.job.id=from-outside,operator=1")
	list := semconv.Compose(WorkerDefaults(env, Host{}, base), SanitizeInherited(base), nil)
	for key, want := range map[string]string{
		"slurm.job.name": "train", "slurm.nnodes": "1", "slurm.job.id": "from-outside", "slurm.job.id.raw": "12", "operator": "1",
	} {
		if got, _ := carrier.Text(must(t, list, key)); got != want {
			t.Errorf("%s is %q, want %q", key, got, want)
		}
	}
}
