package launcher

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"lenslaunch/carrier"
	"lenslaunch/detect"
	"lenslaunch/internal/ledger"
	"lenslaunch/ranks"
)

// begun begins an attempt as a run does: counted in the ledger on the disk.
func begun(t *testing.T, p *Plan) Attempt {
	t.Helper()
	if err := p.PrepareLedger(); err != nil {
		t.Fatal(err)
	}
	e := &effects{plan: p, ctx: context.Background()}
	run := &running{number: 1}
	if failure := e.enter(run); failure != nil {
		t.Fatal(failure)
	}
	return run.attempt
}

// numbers writes attempts as "number/restart count".
func numbers(attempts ...Attempt) []string {
	var out []string
	for _, a := range attempts {
		text := "-"
		if a.RestartCount != nil {
			text = fmt.Sprint(*a.RestartCount)
		}
		out = append(out, fmt.Sprintf("%d/%s", a.Number, text))
	}
	return out
}

// distinct checks that no two attempts share a UUID.
func distinct(t *testing.T, attempts ...Attempt) {
	t.Helper()
	seen := map[string]int{}
	for i, a := range attempts {
		if j, twice := seen[a.UUID]; twice {
			t.Errorf("attempts %d and %d share the UUID %s", j, i, a.UUID)
		}
		seen[a.UUID] = i
	}
}

// The example of the identity specification: base 2, two restarts by the launcher:
// 2, 3, 4; invoked again: 5; requeued by Slurm, whose count is now 3: 6.
func TestIdentityExample(t *testing.T) {
	for name, base := range map[string][]string{
		"base from Slurm":       {"SLURM_RESTART_COUNT=2"},
		"base from the carrier": {carrier.Variable + "=slurm.restart_count=2"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			invoke := func(env ...string) *Plan {
				d := newDraft(t, 2).with("SLURM_JOB_ID=9", "SLURM_CLUSTER_NAME=lab").with(env...)
				d.StateDir = dir
				return d.plan(t)
			}
			first := invoke(base...)
			all := []Attempt{begun(t, first), begun(t, first), begun(t, first)}
			again := invoke(base...)
			all = append(all, begun(t, again))
			requeued := invoke(append(base, "SLURM_RESTART_COUNT=3")...)
			all = append(all, begun(t, requeued))
			if diff := cmp.Diff([]string{"0/2", "1/3", "2/4", "3/5", "0/6"}, numbers(all...)); diff != "" {
				t.Errorf("number/restart count (-want +got):\n%s", diff)
			}
			distinct(t, all...)
			for _, p := range []*Plan{again, requeued} {
				if p.JobUUID != first.JobUUID || p.JobUUID != derived("nemo.lens.job/lab/9") {
					t.Errorf("job UUID %s, want %s", p.JobUUID, first.JobUUID)
				}
			}
			if want := derived("nemo.lens.run/lab/9/sr3/te0"); all[4].UUID != want {
				t.Errorf("requeued: UUID %s, want %s", all[4].UUID, want)
			}
		})
	}
}

// Outside Slurm all invocations of one run id are one execution.
func TestInvocationsOutsideSlurm(t *testing.T) {
	dir := t.TempDir()
	invoke := func(id string, env ...string) Attempt {
		d := newDraft(t, 1).with(env...)
		d.StateDir, d.RunID = dir, id
		return begun(t, d.plan(t))
	}
	a, b := invoke("run-7"), invoke("run-7")
	if a.Continued || !b.Continued {
		t.Errorf("continued: %v, then %v", a.Continued, b.Continued)
	}
	other := invoke("run-8")
	declared := invoke("run-7", "LENSLAUNCH_RESTART_COUNT=5")
	after := invoke("run-7", "LENSLAUNCH_RESTART_COUNT=5")
	if diff := cmp.Diff([]string{"0/-", "1/-", "0/-", "5/5", "6/6"}, numbers(a, b, other, declared, after)); diff != "" {
		t.Errorf("number/restart count (-want +got):\n%s", diff)
	}
	distinct(t, a, b, other, declared, after)
	if want := derived("nemo.lens.run/local/run-7/te1"); b.UUID != want {
		t.Errorf("UUID %s, want %s", b.UUID, want)
	}
}

// What the ledger is keyed by and what the UUID is derived from must agree, or two
// attempts share a UUID: every pair of places in one allocation is tried.
func TestStepsAndElementsNeverShareAnAttempt(t *testing.T) {
	batch := map[string]string{"SLURM_JOB_ID": "9", "SLURM_CLUSTER_NAME": "lab"}
	step := func(id string) map[string]string {
		env := maps.Clone(batch)
		env["SLURM_STEP_ID"], env["SLURM_STEP_NODELIST"] = id, "n1"
		return env
	}
	element := func(task string, env map[string]string) map[string]string {
		env = maps.Clone(env)
		env["SLURM_ARRAY_JOB_ID"], env["SLURM_ARRAY_TASK_ID"] = "8", task
		return env
	}
	requeued := maps.Clone(batch)
	requeued["SLURM_RESTART_COUNT"] = "1"
	places := []struct {
		name string
		env  map[string]string
		uuid string // of attempt 0
	}{
		{"batch script", batch, "lab/9/sr0/te0"},
		{"step 0", step("0"), "lab/9/sr0/te0"},
		{"step 1", step("1"), "lab/9/sr0/te0/st1"},
		{"step 2", step("2"), "lab/9/sr0/te0/st2"},
		{"interactive step", step("4294967290"), "lab/9/sr0/te0"},
		{"interactive step of 26.05", step("-6"), "lab/9/sr0/te0"},
		{"requeued", requeued, "lab/9/sr1/te0"},
		{"element 3", element("3", batch), "lab/8/te0/at3/sr0"},
		{"element 4", element("4", batch), "lab/8/te0/at4/sr0"},
		{"element 3, step 1", element("3", step("1")), "lab/8/te0/st1/at3/sr0"},
		{"element 3, requeued", element("3", requeued), "lab/8/te0/at3/sr1"},
	}
	for _, a := range places {
		for _, b := range places {
			// In a real step the world says so; a shell that a step left over does not.
			for _, believed := range []bool{true, false} {
				books := map[string]ledger.History{}
				x, y := countIn(t, books, a.env, true), countIn(t, books, b.env, believed)
				if x.UUID == y.UUID {
					t.Errorf("%s then %s (believed: %v): both are attempt %d with UUID %s", a.name, b.name, believed, y.Number, y.UUID)
				}
				if want := derived("nemo.lens.run/" + a.uuid); x.UUID != want {
					t.Errorf("%s: UUID %s, want that of %s", a.name, x.UUID, a.uuid)
				}
			}
		}
	}
}

// countIn counts an attempt of a launcher with this environment, in ledgers that are
// kept in memory.
func countIn(t *testing.T, books map[string]ledger.History, env map[string]string, believed bool) Attempt {
	t.Helper()
	d := newDraft(t, 1)
	maps.Copy(d.Env, env)
	world, err := ranks.Resolve(ranks.Request{NProc: "1"}, env)
	if err != nil {
		t.Fatal(err)
	}
	d.World = world
	d.World.InStep = world.InStep && believed
	p := d.plan(t)
	book := books[p.LedgerName]
	a, err := p.count(book)
	if err != nil {
		t.Fatal(err)
	}
	a.UUID = p.number(a).UUID
	book.Attempts = append(book.Attempts, a)
	books[p.LedgerName] = book
	return p.number(a)
}

// Several nodes that do not talk to each other agree from the environment alone.
func TestUncoordinatedNodes(t *testing.T) {
	identities := map[string]bool{}
	for node := range 2 {
		d := newDraft(t, 2).with("LENSLAUNCH_RESTART_COUNT=3", carrier.Variable+"=slurm.restart_count=2")
		d.StateDir = t.TempDir()
		d.World = ranks.World{Nodes: 2, NodeRank: node, LocalSize: 2, MasterAddr: "head", MasterPort: 29500}
		d.MasterPort = 29500
		p := d.plan(t)
		if p.LedgerDir != "" || p.LedgerName != "" {
			t.Errorf("node %d has a ledger: %q in %q", node, p.LedgerName, p.LedgerDir)
		}
		// Twice: nothing is remembered.
		a, b := begun(t, p), begun(t, p)
		if diff := cmp.Diff([]string{"3/3", "3/3"}, numbers(a, b)); diff != "" {
			t.Errorf("node %d (-want +got):\n%s", node, diff)
		}
		shown, err := p.NextAttempt()
		if err != nil || shown.UUID != a.UUID || shown.MasterPort != 29500 {
			t.Errorf("NextAttempt = %+v, %v", shown, err)
		}
		for local := range 2 {
			w := worker(t, p, local, shown)
			if w.Rank != 2*node+local || w.Set["MASTER_ADDR"] != "head" || w.Set["MASTER_PORT"] != "29500" {
				t.Errorf("node %d, local rank %d: %+v", node, local, w)
			}
		}
		identities[a.UUID+" "+p.JobUUID] = true
		if left, _ := os.ReadDir(d.StateDir); len(left) != 0 {
			t.Errorf("node %d wrote %v", node, left)
		}
	}
	if len(identities) != 1 {
		t.Errorf("the nodes differ: %v", identities)
	}
}

func TestUncoordinatedNodesUnderSlurm(t *testing.T) {
	d := newDraft(t, 1).with("SLURM_JOB_ID=9", "SLURM_RESTART_COUNT=2", "SLURM_STEP_ID=3", "SLURM_STEP_NODELIST=n[1-2]", "LENSLAUNCH_RESTART_COUNT=1")
	d.World = ranks.World{Nodes: 2, LocalSize: 1, MasterAddr: "n1", MasterPort: 29500, InStep: true}
	d.MasterPort = 29500
	a := begun(t, d.plan(t))
	if diff := cmp.Diff([]string{"1/2"}, numbers(a)); diff != "" {
		t.Errorf("number/restart count (-want +got):\n%s", diff)
	}
	if want := derived("nemo.lens.run/nocluster/9/sr2/te1/st3"); a.UUID != want {
		t.Errorf("UUID %s, want %s", a.UUID, want)
	}
}

// `lenslaunch env` says what the next attempt would be, and writes nothing.
func TestNextAttemptReadsOnly(t *testing.T) {
	d := newDraft(t, 1)
	d.StateDir = filepath.Join(t.TempDir(), "state")
	p := d.plan(t)
	for range 2 {
		a, err := p.NextAttempt()
		if err != nil || a.Number != 0 || a.MasterPort != 0 || a.ErrorDir != "" {
			t.Errorf("NextAttempt = %+v, %v", a, err)
		}
	}
	if _, err := os.Stat(d.StateDir); !os.IsNotExist(err) {
		t.Errorf("the ledger's directory was made: %v", err)
	}
	first := begun(t, p)
	if a, err := p.NextAttempt(); err != nil || a.Number != first.Number+1 {
		t.Errorf("after one attempt: %+v, %v", a, err)
	}
}

func TestCorruptLedgerIsAnError(t *testing.T) {
	d := newDraft(t, 1)
	d.StateDir = t.TempDir()
	p := d.plan(t)
	file := filepath.Join(d.StateDir, p.LedgerName)
	if err := os.WriteFile(file, []byte(`{"half`), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := p.NextAttempt()
	failure := (&effects{plan: p, ctx: context.Background()}).enter(&running{number: 1})
	for name, err := range map[string]error{"NextAttempt": err, "a start": failure} {
		var f *Failure
		if !errors.As(err, &f) || f.Code != ExitUsage || !strings.Contains(f.Error(), file) || strings.Contains(f.Error(), "\n") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if text, err := os.ReadFile(file); err != nil || string(text) != `{"half` {
		t.Errorf("the ledger is now %q, %v", text, err)
	}
}

// The same, where the ledger's place is the default one: a broken file is no reason
// to go on at zero.
func TestCorruptDefaultLedgerIsAnError(t *testing.T) {
	p := newDraft(t, 1).plan(t)
	if err := p.PrepareLedger(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(p.LedgerDir, p.LedgerName), []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	failure := (&effects{plan: p, ctx: context.Background()}).enter(&running{number: 1})
	if failure == nil || failure.Code != ExitUsage {
		t.Errorf("a start: %v", failure)
	}
}

// A default place that becomes unusable costs the memory, not the run; the attempts
// of this invocation still count on from each other.
func TestLedgerLostInTheMiddle(t *testing.T) {
	p := newDraft(t, 1).with("SLURM_JOB_ID=9").plan(t)
	if err := p.PrepareLedger(); err != nil {
		t.Fatal(err)
	}
	e := &effects{plan: p, ctx: context.Background()}
	var all []Attempt
	for n := range 4 {
		if n == 2 {
			if err := os.RemoveAll(p.LedgerDir); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(p.LedgerDir, nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		run := &running{number: n + 1}
		if failure := e.enter(run); failure != nil {
			t.Fatal(failure)
		}
		if warned := len(run.warnings) > 0; warned != (n == 2) {
			t.Errorf("attempt %d: warnings %q", n, run.warnings)
		}
		all = append(all, run.attempt)
	}
	if diff := cmp.Diff([]string{"0/0", "1/1", "2/2", "3/3"}, numbers(all...)); diff != "" {
		t.Errorf("number/restart count (-want +got):\n%s", diff)
	}
	distinct(t, all...)
}

// A count that cannot be continued is an error, not a wrap.
func TestExhaustedCount(t *testing.T) {
	p := newDraft(t, 1).with("LENSLAUNCH_RESTART_COUNT=9223372036854775807").plan(t)
	if a, err := p.NextAttempt(); err == nil {
		t.Errorf("NextAttempt = %+v", a)
	}
}

func TestRestartCountInputs(t *testing.T) {
	p := newDraft(t, 1).with("SLURM_JOB_ID=9", "SLURM_RESTART_COUNT= +3 ", "LENSLAUNCH_RESTART_COUNT=x", carrier.Variable+"=slurm.restart_count=%207").plan(t)
	want := ledger.Inputs{Scheduler: new(int64(3)), Carrier: new(int64(7)), Slurm: true, Execution: detect.Execution(p.Env)}
	if diff := cmp.Diff(want, p.counts()); diff != "" {
		t.Errorf("inputs (-want +got):\n%s", diff)
	}
}
