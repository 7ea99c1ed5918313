package launcher

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"lenslaunch/carrier"
	"lenslaunch/semconv"
)

// The order of the identity specification: each source loses to those before it.
func TestRunIDSources(t *testing.T) {
	sources := []struct{ from, variable, id string }{
		{"--run-id", "", "flag"},
		{semconv.NemoRunID, carrier.Variable + "=nemo.run.id=inherited", "inherited"},
		{"NEMO_LENS_RUN_ID", "NEMO_LENS_RUN_ID=lens", "lens"},
		{"LENSLAUNCH_JOB_UID", "LENSLAUNCH_JOB_UID=uid", "uid"},
		{"TORCHELASTIC_RUN_ID", "TORCHELASTIC_RUN_ID=elastic", "elastic"},
		{"PET_RDZV_ID", "PET_RDZV_ID=rdzv", "rdzv"},
		{"SLURM_JOB_ID", "SLURM_JOB_ID=4711", "4711"},
	}
	for i, want := range sources {
		t.Run(want.from, func(t *testing.T) {
			d := newDraft(t, 1)
			d.RunID = want.id
			if want.variable != "" {
				d.RunID = ""
			}
			for _, weaker := range sources[i:] {
				if weaker.variable != "" {
					d.with(weaker.variable)
				}
			}
			p := d.plan(t)
			if p.RunID != want.id || p.RunIDFrom != want.from {
				t.Errorf("run id %q from %q, want %q from %q", p.RunID, p.RunIDFrom, want.id, want.from)
			}
			if line := "run id " + want.id + " from " + want.from; !slices.Contains(p.Why, line) {
				t.Errorf("why %q does not say %q", p.Why, line)
			}
			w := worker(t, p, 0, Attempt{})
			got := []string{w.Set["TORCHELASTIC_RUN_ID"], w.Set["NEMO_LENS_RUN_ID"], entry(w.Carrier, semconv.NemoRunID), entry(w.Carrier, "service.instance.id")}
			if diff := cmp.Diff([]string{want.id, want.id, want.id, want.id + "-rank0"}, got); diff != "" {
				t.Errorf("what the worker sees (-want +got):\n%s", diff)
			}
		})
	}
}

// A run whose name was made up cannot be continued: it keeps no ledger.
func TestGeneratedRunID(t *testing.T) {
	d := newDraft(t, 1).with("NEMO_LENS_RUN_ID=", "SLURM_JOB_ID=", carrier.Variable+"=nemo.run.id=")
	d.RunID = ""
	d.StateDir = t.TempDir()
	a, b := d.plan(t), d.plan(t)
	if _, err := uuid.Parse(a.RunID); err != nil || a.RunIDFrom != "generated" || a.RunID == b.RunID {
		t.Errorf("run ids %q and %q from %q", a.RunID, b.RunID, a.RunIDFrom)
	}
	if a.LedgerDir != "" || a.LedgerName != "" {
		t.Errorf("ledger %q in %q", a.LedgerName, a.LedgerDir)
	}
	if HasRunID(d.Config) {
		t.Error("HasRunID is true for a generated one")
	}
	if d.RunID = "x"; !HasRunID(d.Config) {
		t.Error("HasRunID is false with --run-id")
	}
}

// The job's UUID is derived and never inherited, because it is the ledger's key; a
// worker's carrier keeps an inherited one all the same.
func TestJobUUID(t *testing.T) {
	tests := []struct {
		name string
		env  []string
		want string
		file string
	}{
		{"run id", nil, "nemo.lens.job/local/run-7", ""},
		{"Slurm", []string{"SLURM_JOB_ID=12345", "SLURM_CLUSTER_NAME=cluster-a"}, "nemo.lens.job/cluster-a/12345", ""},
		{"no cluster name", []string{"SLURM_JOB_ID=12345"}, "nemo.lens.job/nocluster/12345", ""},
		{
			"an array element is part of its array",
			[]string{"SLURM_JOB_ID=12350", "SLURM_ARRAY_JOB_ID=12345", "SLURM_ARRAY_TASK_ID=7", "SLURM_CLUSTER_NAME=cluster-a"},
			"nemo.lens.job/cluster-a/12345", ".7",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := newDraft(t, 1).with(tt.env...)
			p, want := d.plan(t), derived(tt.want)
			if p.JobUUID != want || p.LedgerName != want+tt.file+".json" {
				t.Errorf("job UUID %s, ledger %s, want %s", p.JobUUID, p.LedgerName, want)
			}
			if got := entry(worker(t, p, 0, Attempt{}).Carrier, semconv.NVDLJobUUID); got != want {
				t.Errorf("carrier: %s", got)
			}
			d.with(carrier.Variable + "=nv.dl.job.uuid=outer")
			p = d.plan(t)
			if got := entry(worker(t, p, 0, Attempt{}).Carrier, semconv.NVDLJobUUID); got != "outer" || p.JobUUID != want {
				t.Errorf("inherited: carrier %s, derived %s", got, p.JobUUID)
			}
		})
	}
}

// The vectors' values, where Lens and the launcher derive the same.
func TestJobUUIDOfTheVectors(t *testing.T) {
	d := newDraft(t, 1).with("SLURM_JOB_ID=12345", "SLURM_CLUSTER_NAME=cluster-a")
	if got := d.plan(t).JobUUID; got != "be34ba0f-41ed-5d53-84c1-e3f3dd25bfd7" {
		t.Errorf("job UUID %s", got)
	}
	d = newDraft(t, 1)
	d.RunID = "local-1"
	for n, want := range []string{"b7bfb81b-f66c-50d8-a79e-8a703cdad745", "83a45dd3-4453-52f6-82a3-b85f1bccf845"} {
		if got := d.plan(t).number(countedAs(n)).UUID; got != want {
			t.Errorf("attempt %d: UUID %s, want %s", n, got, want)
		}
	}
	d = newDraft(t, 1).with("SLURM_JOB_ID=7")
	if got := d.plan(t).number(countedAs(0)).UUID; got != "cfd88c50-2a1e-590d-b027-265fd981ce8f" {
		t.Errorf("under Slurm: %s", got)
	}
}

func TestLedgerPlace(t *testing.T) {
	d := newDraft(t, 1)
	p := d.plan(t)
	if want := filepath.Join(d.Env["TMPDIR"], "lenslaunch-"+itoa(os.Getuid())); p.LedgerDir != want {
		t.Errorf("default: %q, want %q", p.LedgerDir, want)
	}
	// A plan writes nothing; the place is made on demand.
	if _, err := os.Stat(p.LedgerDir); !os.IsNotExist(err) {
		t.Errorf("NewPlan made the directory: %v", err)
	}
	if err := p.PrepareLedger(); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(p.LedgerDir); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("%v, %v", info, err)
	}
	d.StateDir = filepath.Join(t.TempDir(), "new", "state")
	p = d.plan(t)
	if err := p.PrepareLedger(); err != nil || p.LedgerDir != d.StateDir {
		t.Errorf("--state-dir: %q, %v", p.LedgerDir, err)
	}
}

// An explicit place that cannot be used is an error, a default one a warning.
func TestLedgerPlaceThatCannotBeUsed(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	d := newDraft(t, 1)
	d.StateDir = filepath.Join(file, "state")
	err := d.plan(t).PrepareLedger()
	var failure *Failure
	if !errors.As(err, &failure) || failure.Code != ExitUsage || !strings.Contains(failure.Error(), "--state-dir") {
		t.Errorf("explicit: %v", err)
	}
	d.StateDir = ""
	d.Env["TMPDIR"] = file
	p := d.plan(t)
	if err := p.PrepareLedger(); err != nil || p.LedgerDir != "" || len(p.Warnings) != 1 || !strings.Contains(p.Warnings[0], "ledger") {
		t.Errorf("default: %v, directory %q, warnings %q", err, p.LedgerDir, p.Warnings)
	}
}

// The base is the carrier that the launcher was started with, captured once: the
// carriers of ten attempts are equally long.
func TestTenAttemptsDoNotGrowTheCarrier(t *testing.T) {
	d := newDraft(t, 2).with(carrier.Variable + "=team=a,service.name=llm,slurm.restart_count=0")
	p := d.plan(t)
	var keys []string
	for n := range 10 {
		w := worker(t, p, 1, p.number(countedAs(n)))
		// As a worker's own carrier would arrive, should it be published for good.
		t.Setenv(carrier.Variable, strings.Join(entries(w.Carrier), ","))
		var now []string
		for _, e := range entries(w.Carrier) {
			key, _, _ := strings.Cut(e, "=")
			now = append(now, key)
		}
		if n == 0 {
			keys = now
		}
		if diff := cmp.Diff(keys, now); diff != "" {
			t.Fatalf("attempt %d (-first +now):\n%s", n, diff)
		}
	}
}

func TestOMPIsExplained(t *testing.T) {
	why := "OMP_NUM_THREADS=4: 8 usable CPUs for 2 local ranks"
	if p := newDraft(t, 2).plan(t); !slices.Contains(p.Why, why) {
		t.Errorf("why %q does not say %q", p.Why, why)
	}
	if p := newDraft(t, 2).with("OMP_NUM_THREADS=3").plan(t); slices.ContainsFunc(p.Why, func(line string) bool { return strings.Contains(line, "usable CPUs") }) {
		t.Errorf("why %q explains a value that the user chose", p.Why)
	}
}
