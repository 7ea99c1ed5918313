package launcher

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/otel/attribute"

	"lenslaunch/carrier"
	"lenslaunch/detect"
	"lenslaunch/ranks"
	"lenslaunch/semconv"
)

// The carrier specification, "Who may win": for one key, what each source says and
// who is believed.
func TestWhoMayWin(t *testing.T) {
	flag := func(key, text string) func(*draft) {
		return func(d *draft) { d.Attrs = append(d.Attrs, attribute.String(key, text)) }
	}
	role := func(d *draft) { d.Role, d.RoleSet = "critic", true }
	slurm := func(d *draft) {
		d.with("SLURM_JOB_ID=9", "SLURM_JOB_NAME=train", "SLURM_JOB_PARTITION=main", "SLURM_NTASKS=4")
	}
	gpu := func(d *draft) {
		d.Facts.GPUs = detect.GPUSet{GPUs: []detect.GPU{{Index: 0, Model: "H100"}, {Index: 1, Model: "H100"}}}
	}
	tests := []struct {
		name, key string
		inherited string // an entry of the carrier
		change    func(*draft)
		want      string
	}{
		{"role: default", "nv.dl.role", "", nil, "trainer"},
		{"role: inherited beats the default", "nv.dl.role", "nv.dl.role=actor", nil, "actor"},
		{"role: the flag beats both", "nv.dl.role", "nv.dl.role=actor", role, "critic"},
		{"role: not allowlisted, so an empty one is a value", "nv.dl.role", "nv.dl.role=", nil, ""},
		{"run id: the flag beats", "nemo.run.id", "nemo.run.id=outer", nil, "run-7"},
		{"run id: inherited", "nemo.run.id", "nemo.run.id=outer", func(d *draft) { d.RunID = "" }, "outer"},
		{"host: detected", "host.name", "", nil, "node-a"},
		{"host: inherited beats detected", "host.name", "host.name=gateway", nil, "gateway"},
		{"host: --attr beats inherited", "host.name", "host.name=gateway", flag("host.name", "mine"), "mine"},
		{"Slurm: detected", "slurm.job.name", "", slurm, "train"},
		{"Slurm: inherited beats detected", "slurm.job.name", "slurm.job.name=outer", slurm, "outer"},
		{"Slurm: an empty one does not count", "slurm.job.name", "slurm.job.name=", slurm, "train"},
		{"Slurm: nor an invalid number", "slurm.ntasks", "slurm.ntasks=many", slurm, "4"},
		{"Slurm: a valid number wins", "slurm.ntasks", "slurm.ntasks=8", slurm, "8"},
		{"job UUID: an empty one does not count", "nv.dl.job.uuid", "nv.dl.job.uuid=", nil, derived("nemo.lens.job/local/run-7")},
		{"GPU: by local rank", "nv.gpu.index", "", gpu, "1"},
		{"GPU: inherited wins", "nv.gpu.model", "nv.gpu.model=A100", gpu, "A100"},
		{"other keys: an empty one is a value", "team", "team=", func(d *draft) { d.AttrDefaults = []attribute.KeyValue{attribute.String("team", "infra")} }, ""},
		{"other keys: --attr-default", "team", "", func(d *draft) { d.AttrDefaults = []attribute.KeyValue{attribute.String("team", "infra")} }, "infra"},
		{"other keys: inherited beats --attr-default", "team", "team=ml", func(d *draft) { d.AttrDefaults = []attribute.KeyValue{attribute.String("team", "infra")} }, "ml"},
		{"other keys: --attr", "team", "team=ml", flag("team", "infra"), "infra"},
		{"the launcher's pid is not the worker's", "process.pid", "", func(d *draft) { d.Facts.Host.Pid = 77 }, "(none)"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := newDraft(t, 2)
			d.Env[carrier.Variable] = tt.inherited
			if tt.change != nil {
				tt.change(d)
			}
			p := d.plan(t)
			if got := entry(worker(t, p, 1, Attempt{}).Carrier, tt.key); got != tt.want {
				t.Errorf("%s=%s, want %s", tt.key, got, tt.want)
			}
		})
	}
}

// Identity is the launcher's, whatever anybody says.
func TestIdentityIsAlwaysOurs(t *testing.T) {
	own := map[string]string{
		semconv.NVDLRank: "5", semconv.NVDLLocalRank: "2", semconv.NVDLWorldSize: "6", semconv.NVDLRunUUID: "uuid",
		semconv.SlurmRestartCount: "4", "service.instance.id": "run-7-rank5", AttemptKey: "1",
	}
	d := newDraft(t, 3)
	d.World = ranks.World{Nodes: 2, NodeRank: 1, LocalSize: 3, MasterAddr: "head", MasterPort: 29500}
	d.MasterPort = 29500
	var inherited []string
	for key := range own {
		if !OwnsAttribute(key) {
			t.Errorf("--attr %s is not refused", key)
		}
		inherited = append(inherited, key+"=0")
		d.Attrs = append(d.Attrs, attribute.String(key, "flag"))
		d.AttrDefaults = append(d.AttrDefaults, attribute.String(key, "default"))
	}
	d.Env[carrier.Variable] = strings.Join(inherited, ",")
	w := worker(t, d.plan(t), 2, Attempt{Number: 1, UUID: "uuid", RestartCount: new(int64(4))})
	for key, want := range own {
		if got := entry(w.Carrier, key); got != want {
			t.Errorf("%s=%s, want %s", key, got, want)
		}
	}
	for _, key := range []string{"nv.dl.role", "host.name", "service.name", "team", "slurm.job.name"} {
		if OwnsAttribute(key) {
			t.Errorf("--attr %s is refused", key)
		}
	}
}

// Everything else inherited rides through at its place: unknown keys, service.name,
// and twenty keys from an operator.
func TestUnknownKeysRideThroughInOrder(t *testing.T) {
	inherited := []string{"service.name=llm", "zeta=1", "slurm.dcs.name=retired", "odd%20key=kept"}
	for i := range 20 {
		inherited = append(inherited, fmt.Sprintf("k8s.operator.key-%02d=value%%20%d", 19-i, i))
	}
	inherited = append(inherited, "alpha=007", "nv.dl.rank=9")
	d := newDraft(t, 1)
	d.Env[carrier.Variable] = strings.Join(inherited, ",")
	got := entries(worker(t, d.plan(t), 0, Attempt{}).Carrier)
	// Defaults stand before the inherited ones; identity keeps an inherited place.
	inherited[len(inherited)-1] = "nv.dl.rank=0"
	from := slices.Index(got, inherited[0])
	if from < 0 || len(got) < from+len(inherited) {
		t.Fatalf("carrier %q", got)
	}
	if diff := cmp.Diff(inherited, got[from:from+len(inherited)]); diff != "" {
		t.Errorf("inherited entries (-want +got):\n%s", diff)
	}
}

// The carriers of an attempt differ only in what belongs to the rank.
func TestCarriersOfAnAttempt(t *testing.T) {
	p := newDraft(t, 8).with(carrier.Variable + "=team=a,service.name=llm").plan(t)
	a := p.number(countedAs(0))
	first := entries(worker(t, p, 0, a).Carrier)
	seen := map[string]bool{}
	for local := range 8 {
		list := entries(worker(t, p, local, a).Carrier)
		seen[strings.Join(list, ",")] = true
		for i, e := range list {
			key, text, _ := strings.Cut(e, "=")
			switch key {
			case semconv.NVDLRank, semconv.NVDLLocalRank:
				if text != itoa(local) {
					t.Errorf("rank %d has %s", local, e)
				}
			case "service.instance.id":
				if text != "run-7-rank"+itoa(local) {
					t.Errorf("rank %d has %s", local, e)
				}
			default:
				if e != first[i] {
					t.Errorf("rank %d has %s where rank 0 has %s", local, e, first[i])
				}
			}
		}
	}
	if len(seen) != 8 {
		t.Errorf("%d different carriers for 8 ranks", len(seen))
	}
}

// Outside Slurm the restart count is published only if somebody gave one.
func TestRestartCountIsPublishedOnlyWhereItIsKnown(t *testing.T) {
	tests := []struct {
		name string
		env  []string
		want string
	}{
		{"nothing said", nil, "(none)"},
		{"inherited", []string{carrier.Variable + "=slurm.restart_count=2"}, "2"},
		{"inherited, no number", []string{carrier.Variable + "=slurm.restart_count=two"}, "(none)"},
		{"inherited, empty", []string{carrier.Variable + "=slurm.restart_count="}, "(none)"},
		{"declared", []string{"LENSLAUNCH_RESTART_COUNT=3"}, "3"},
		{"declared, no number", []string{"LENSLAUNCH_RESTART_COUNT=x"}, "(none)"},
		{"both", []string{"LENSLAUNCH_RESTART_COUNT=3", carrier.Variable + "=slurm.restart_count=5"}, "5"},
		{"Slurm", []string{"SLURM_JOB_ID=9"}, "0"},
		{"Slurm, requeued", []string{"SLURM_JOB_ID=9", "SLURM_RESTART_COUNT=4"}, "4"},
		{"Slurm and inherited: the larger", []string{"SLURM_JOB_ID=9", "SLURM_RESTART_COUNT=4", carrier.Variable + "=slurm.restart_count=7"}, "7"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := newDraft(t, 1).with(tt.env...).plan(t)
			a, err := p.NextAttempt()
			if err != nil {
				t.Fatal(err)
			}
			if got := entry(worker(t, p, 0, a).Carrier, semconv.SlurmRestartCount); got != tt.want {
				t.Errorf("slurm.restart_count=%s, want %s", got, tt.want)
			}
		})
	}
}
