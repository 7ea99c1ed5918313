//go:build slurm && linux

package slurm

import (
	"cmp"
	"net/url"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
)

// carrierOf reads a rank's carrier by the W3C's rule alone.
func carrierOf(l *life) map[string]string {
	out := map[string]string{}
	for entry := range strings.SplitSeq(l.Env["OTEL_RESOURCE_ATTRIBUTES"], ",") {
		key, value, _ := strings.Cut(entry, "=")
		text, err := url.PathUnescape(value)
		if err != nil {
			text = value
		}
		out[key] = text
	}
	return out
}

// wanted is the carrier that the detection specification asks for, from the variables
// that Slurm gave the step: its table once more, written down independently.
func wanted(t *testing.T, l *life) map[string]string {
	t.Helper()
	env := l.Env
	want := map[string]string{
		"slurm.job.id": env["SLURM_JOB_ID"], "slurm.job.id.raw": env["SLURM_JOB_ID"],
		"slurm.array.job_id": env["SLURM_JOB_ID"], "slurm.array.task_id": "0", "slurm.array.count": "1",
		"slurm.job.name": "train", "slurm.cluster.name": "lab", "slurm.partition": "main",
		"slurm.nnodes": "2", "slurm.ntasks": "2", "slurm.restart_count": "0", "slurm.job.user": "slurmlab",
		"host.name":   env["HOSTNAME"],
		"nemo.run.id": env["SLURM_JOB_ID"], "service.instance.id": env["SLURM_JOB_ID"] + "-rank" + env["RANK"],
		"nv.dl.role": "trainer", "nv.dl.rank": env["RANK"], "nv.dl.world_size": "4", "nv.dl.local_rank": env["LOCAL_RANK"],
		"lenslaunch.attempt": "0",
		"nv.dl.job.uuid":     urlUUID("nemo.lens.job/lab/" + env["SLURM_JOB_ID"]),
		"nv.dl.run.uuid":     urlUUID("nemo.lens.run/lab/" + env["SLURM_JOB_ID"] + "/sr0/te0"),
	}
	// What this version of Slurm may or may not set.
	for key, name := range map[string]string{
		"slurm.job.account": "SLURM_JOB_ACCOUNT", "slurm.job.qos": "SLURM_JOB_QOS", "slurm.job.reservation": "SLURM_JOB_RESERVATION",
		"slurm.segment": "SLURM_SEGMENT", "slurm.topology.addr": "SLURM_TOPOLOGY_ADDR", "slurm.topology.addr_pattern": "SLURM_TOPOLOGY_ADDR_PATTERN",
	} {
		if env[name] != "" {
			want[key] = env[name]
		}
	}
	return want
}

func urlUUID(name string) string { return uuid.NewSHA1(uuid.NameSpaceURL, []byte(name)).String() }

// Every key of every rank's carrier is the one of the specification, and there is no
// other.
func TestCarriersKeyByKey(t *testing.T) {
	t.Parallel()
	c, h := sharedCluster(t), newHub(t)
	c.clean(h)
	j := c.start(h, nil, append(c.step(), "--nproc", "2", "--", c.home("rank"))...)
	list := h.ranks(4)
	agree(t, list, 2)
	for i, l := range list {
		got, want := carrierOf(l), wanted(t, l)
		want["host.name"] = cmp.Or(got["host.name"], "missing")
		if got["host.gpu.count"] != "" {
			want["host.gpu.count"] = got["host.gpu.count"] // of the machine, not of Slurm
		}
		if diff := gocmp.Diff(want, got); diff != "" {
			t.Errorf("rank %d (-want +got):\n%s", i, diff)
		}
		if l.Env["MASTER_PORT"] != firstOf(l.Env["SLURM_STEP_RESV_PORTS"], l.Env["MASTER_PORT"]) {
			t.Errorf("rank %d: port %s, reserved %s", i, l.Env["MASTER_PORT"], l.Env["SLURM_STEP_RESV_PORTS"])
		}
		l.tell("exit 0")
	}
	if code := j.code(); code != 0 {
		t.Errorf("exit code %d", code)
	}
}

// firstOf is the first port of a list, or other if there is none.
func firstOf(ports, other string) string {
	first, _, _ := strings.Cut(ports, "-")
	return cmp.Or(first, other)
}
