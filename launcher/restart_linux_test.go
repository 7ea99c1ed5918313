package launcher

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"lenslaunch/carrier"
	"lenslaunch/internal/ledger"
	"lenslaunch/internal/port"
	"lenslaunch/semconv"
)

// hasty is a policy of so many restarts without a delay.
func hasty(n int) func(*draft) {
	return func(d *draft) { d.Policy.MaxRestarts, d.Policy.Delay, d.Policy.DelayMax = n, 0, 0 }
}

// A new attempt has a new UUID, number, restart count, port and error file; the run
// id, the job's UUID and everything inherited stay.
func TestRestartIsANewAttempt(t *testing.T) {
	t.Setenv(carrier.Variable, "team=a,slurm.restart_count=2")
	l := launch(t, 2, "*@2: env; exit 0 | 0: env; exit 1 | *: env; hang", hasty(3))
	if code := l.wait(); code != 0 {
		t.Fatalf("exit code %d", code)
	}
	differ := []string{"MASTER_PORT", "TORCHELASTIC_ERROR_FILE", "LENSLAUNCH_ATTEMPT", "TORCHELASTIC_RESTART_COUNT", semconv.NVDLRunUUID, semconv.SlurmRestartCount, AttemptKey}
	same := []string{"RANK", "WORLD_SIZE", "TORCHELASTIC_RUN_ID", "TORCHELASTIC_MAX_RESTARTS", semconv.NVDLJobUUID, semconv.NemoRunID, "service.instance.id", "team", "keys"}
	seen := map[string]map[string]bool{}
	for attempt := range 3 {
		env := l.environ(0, attempt)
		var keys []string
		for _, kv := range carrier.Parse(env[carrier.Variable]) {
			env[string(kv.Key)] = kv.Value.AsString()
			keys = append(keys, string(kv.Key))
		}
		env["keys"] = strings.Join(keys, " ")
		for _, key := range append(differ, same...) {
			if seen[key] == nil {
				seen[key] = map[string]bool{}
			}
			seen[key][env[key]] = true
		}
		if n := itoa(attempt); env["LENSLAUNCH_ATTEMPT"] != n || env["TORCHELASTIC_RESTART_COUNT"] != n || env[AttemptKey] != n || env[semconv.SlurmRestartCount] != itoa(2+attempt) {
			t.Errorf("attempt %d: numbers %s %s %s, restart count %s", attempt, env["LENSLAUNCH_ATTEMPT"], env["TORCHELASTIC_RESTART_COUNT"], env[AttemptKey], env[semconv.SlurmRestartCount])
		}
	}
	for _, key := range differ {
		if len(seen[key]) != 3 {
			t.Errorf("%s over three attempts: %v", key, seen[key])
		}
	}
	for _, key := range same {
		if len(seen[key]) != 1 {
			t.Errorf("%s over three attempts: %v", key, seen[key])
		}
	}
}

// Also where the range is so small that chance alone would give the old port again.
func TestEveryAttemptGetsANewPort(t *testing.T) {
	l := launch(t, 1, "*@5: exit 0 | *: exit 1", func(d *draft) {
		hasty(5)(d)
		// Eight ports of its own, should this test run twice at the same time.
		first := 30000 + os.Getpid()%200*8
		d.PortRange = port.Range{First: first, Last: first + 7}
	})
	if code := l.wait(); code != 0 {
		t.Fatalf("exit code %d", code)
	}
	last := 0
	for _, began := range pick[AttemptBegan](l.events.all()) {
		if began.Attempt.MasterPort == last {
			t.Errorf("attempt %d has the port of the one before, %d", began.Attempt.Number, last)
		}
		last = began.Attempt.MasterPort
	}
}

// A fixed port is used by every attempt, at once after the one before.
func TestFixedPortIsKept(t *testing.T) {
	// One that is free now, outside the range that other tests reserve from.
	free, err := port.Reserve(port.Range{First: 31600, Last: 32599}, 1)
	if err != nil {
		t.Fatal(err)
	}
	free.Close()
	l := launch(t, 1, "*@2: listen; exit 0 | *: listen; exit 1", func(d *draft) {
		hasty(2)(d)
		d.MasterPort = free.Port()
	})
	if code := l.wait(); code != 0 {
		t.Fatalf("exit code %d: %v, %v", code, l.err.all(), l.events.all())
	}
	for _, began := range pick[AttemptBegan](l.events.all()) {
		if began.Attempt.MasterPort != free.Port() {
			t.Errorf("attempt %d has port %d", began.Attempt.Number, began.Attempt.MasterPort)
		}
	}
}

// What the ledger says afterwards, of several invocations.
func TestLedgerAfterTheRun(t *testing.T) {
	state := t.TempDir()
	with := func(change func(*draft)) func(*draft) {
		return func(d *draft) { d.StateDir = state; change(d) }
	}
	launch(t, 2, "1@0: exit 3 | *: exit 0", with(hasty(1))).wait()
	launch(t, 1, "0: die SEGV", with(func(d *draft) { d.Command = []string{"/bin/sh", "-c", "kill -SEGV $$"} })).wait()
	l := launch(t, 1, "*: say ready; hang", with(func(*draft) {}))
	l.line("[0] ready")
	if last := l.history()[3]; last.Outcome != ledger.OutcomeRunning || !last.Ended.IsZero() {
		t.Errorf("while it runs: %+v", last)
	}
	l.signal(syscall.SIGTERM)
	l.wait()
	var got []string
	for i, a := range l.history() {
		got = append(got, itoa(int(a.Number))+" "+a.Outcome)
		if a.Launcher.Pid != os.Getpid() || a.Ended.Before(a.Began) || a.UUID == "" {
			t.Errorf("entry %d: %+v", i, a)
		}
	}
	want := []string{"0 failed: rank 1, exit code 3", "1 success", "2 failed: rank 0, SIGSEGV", "3 stopped: SIGTERM"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("ledger (-want +got):\n%s", diff)
	}
}

// The executable vanishes while ranks are being started: those that run are stopped,
// and the reason is told.
func TestStartFailureInTheMiddle(t *testing.T) {
	for _, breakage := range []struct {
		name string
		do   func(program string) error
		code int
	}{
		{"removed", os.Remove, ExitNotFound},
		{"replaced by a directory", func(p string) error { return replace(p, "/") }, ExitNotExecutable},
		{"replaced by a text", func(p string) error { return replace(p, "/proc/self/status") }, ExitNotExecutable},
	} {
		t.Run(breakage.name, func(t *testing.T) {
			d := newDraft(t, 8)
			l := newLaunched(t, d, "*: hang")
			program := filepath.Join(l.dir, "program")
			if err := os.Symlink(d.Command[0], program); err != nil {
				t.Fatal(err)
			}
			d.Command[0] = program
			d.Policy.MaxRestarts = 3 // fatal by default: no restart
			l.plan = d.plan(t)
			if err := l.plan.PrepareLedger(); err != nil {
				t.Fatal(err)
			}
			l.begin(l.console(), func(e Event) {
				if s, ok := e.(WorkerStarted); ok && s.Local == 1 {
					if err := breakage.do(program); err != nil {
						t.Error(err)
					}
				}
			})
			if code := l.wait(); code != breakage.code {
				t.Errorf("exit code %d, want %d", code, breakage.code)
			}
			started := len(pick[WorkerStarted](l.events.all()))
			faults := pick[AttemptEnded](l.events.all())[0].Faults
			if started < 2 || started > 7 || faults[0].Cause == nil || faults[0].Pid != 0 || faults[0].Local != started {
				t.Errorf("%d started, faults %+v", started, faults)
			}
			if len(pick[WorkersStarted](l.events.all())) != 0 {
				t.Error("the launch is told to be complete")
			}
		})
	}
}

// replace makes a link point elsewhere; at no moment is it missing.
func replace(link, target string) error {
	if err := os.Symlink(target, link+".new"); err != nil {
		return err
	}
	return os.Rename(link+".new", link)
}

// Ranks that end before the last one is started are seen, every one of them.
func TestEarlyExitStorm(t *testing.T) {
	for _, n := range []int{1, 8, 64} {
		for program, want := range map[string]int{"/bin/true": 0, "/bin/false": 1} {
			t.Run(itoa(n)+program, func(t *testing.T) {
				for range 3 {
					began := time.Now()
					l := launch(t, n, "-", func(d *draft) { d.Command = []string{program}; d.Stop.Kill = time.Hour; d.Restop = time.Hour })
					if code := l.wait(); code != want {
						t.Errorf("exit code %d, want %d", code, want)
					}
					gone := pick[WorkerEnded](l.events.all())
					if want == 0 && len(gone) != n {
						t.Errorf("%d of %d ranks have ended", len(gone), n)
					}
					if took := time.Since(began); took > patience/2 {
						t.Errorf("took %v", took)
					}
				}
			})
		}
	}
}

// The directory of the ledger vanishes between two attempts: the run goes on, and
// still no two attempts share a UUID.
func TestLedgerLostBetweenAttempts(t *testing.T) {
	d := newDraft(t, 1)
	l := newLaunched(t, d, "*@2: exit 0 | *: exit 1")
	hasty(2)(d)
	l.plan = d.plan(t)
	if err := l.plan.PrepareLedger(); err != nil {
		t.Fatal(err)
	}
	dir := l.plan.LedgerDir
	l.begin(l.console(), func(e Event) {
		if ended, ok := e.(AttemptEnded); ok && ended.Attempt.Number == 0 {
			if err := errors.Join(os.RemoveAll(dir), os.WriteFile(dir, nil, 0o600)); err != nil {
				t.Error(err)
			}
		}
	})
	if code := l.wait(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	seen := map[string]bool{}
	for _, began := range pick[AttemptBegan](l.events.all()) {
		seen[began.Attempt.UUID] = true
	}
	if len(seen) != 3 {
		t.Errorf("%d UUIDs for three attempts", len(seen))
	}
}

// An end that cannot be entered in the ledger is told, and changes no outcome.
func TestLedgerLostDuringAnAttempt(t *testing.T) {
	d := newDraft(t, 1)
	l := newLaunched(t, d, "*: exit 0")
	l.plan = d.plan(t)
	if err := l.plan.PrepareLedger(); err != nil {
		t.Fatal(err)
	}
	l.begin(l.console(), func(e Event) {
		if _, ok := e.(WorkersStarted); ok {
			if err := os.RemoveAll(l.plan.LedgerDir); err != nil {
				t.Error(err)
			}
		}
	})
	if code := l.wait(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	if e := pick[AttemptEnded](l.events.all())[0]; e.LedgerProblem == nil || e.Outcome != OutcomeSuccess {
		t.Errorf("ended %+v", e)
	}
}

// A failure keeps ranks from being started that have not been yet.
func TestFailureEndsTheLaunch(t *testing.T) {
	const n = 256
	l := launch(t, n, "-", func(d *draft) {
		d.Command = []string{"/bin/sh", "-c", "[ $RANK != 0 ] || exit 3; exec sleep 600"}
	})
	if code := l.wait(); code != 3 {
		t.Errorf("exit code %d", code)
	}
	if started := len(pick[WorkerStarted](l.events.all())); started == n {
		t.Errorf("all %d ranks were started", n)
	}
}
