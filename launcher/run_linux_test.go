package launcher

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"lenslaunch/carrier"
	"lenslaunch/internal/port"
	"lenslaunch/ranks"
)

// Each of eight processes sees exactly its own carrier, whole, with what was
// inherited; the launcher's own environment is what it was (checked by wait).
func TestEveryRankSeesItsOwnCarrier(t *testing.T) {
	t.Setenv(carrier.Variable, "service.name=llm,team=a%20b,nv.dl.rank=99")
	t.Setenv("RANK", "stale")
	t.Setenv("LENSLAUNCH_RUN_DIR", "/stale")
	l := launch(t, 8, "*: env", nil)
	if code := l.wait(); code != 0 {
		t.Fatalf("exit code %d: %v", code, l.err.all())
	}
	attempt := pick[AttemptBegan](l.events.all())[0].Attempt
	seen := map[string]bool{}
	for rank := range 8 {
		env := l.environ(rank, 0)
		want := worker(t, l.plan, rank, attempt)
		seen[env[carrier.Variable]] = true
		if diff := cmp.Diff(entries(want.Carrier), strings.Split(env[carrier.Variable], ",")); diff != "" {
			t.Errorf("carrier of rank %d (-want +got):\n%s", rank, diff)
		}
		for key, text := range want.Set {
			if env[key] != text {
				t.Errorf("rank %d: %s=%q, want %q", rank, key, env[key], text)
			}
		}
		if _, set := env["LENSLAUNCH_RUN_DIR"]; set {
			t.Errorf("rank %d has a stale run directory", rank)
		}
	}
	if len(seen) != 8 {
		t.Errorf("%d different carriers for 8 ranks", len(seen))
	}
}

// Without an inherited carrier the variable is unset again after the run.
func TestCarrierIsNotLeftBehind(t *testing.T) {
	t.Setenv(carrier.Variable, "")
	os.Unsetenv(carrier.Variable)
	l := launch(t, 2, "*: env", nil)
	l.wait()
	if text, set := os.LookupEnv(carrier.Variable); set {
		t.Errorf("%s=%q", carrier.Variable, text)
	}
	if got := l.environ(1, 0)[carrier.Variable]; !strings.Contains(got, "nv.dl.rank=1") {
		t.Errorf("rank 1: %q", got)
	}
}

func TestFirstFailureStopsTheOthers(t *testing.T) {
	l := launch(t, 3, "1: gate fail; err boom; exit 3 | *: catch TERM; say ready; await TERM; exit 0", nil)
	l.gate("fail")
	l.line("[0] ready", "[2] ready")
	l.open("fail")
	if code := l.wait(); code != 3 {
		t.Errorf("exit code %d, want the cause's, 3", code)
	}
	l.line("[0] got SIGTERM", "[2] got SIGTERM")
	e := pick[AttemptEnded](l.events.all())[0]
	if len(e.Faults) != 1 || e.Faults[0].Rank != 1 || e.Outcome != OutcomeFailed {
		t.Errorf("ended %+v", e)
	}
	if diff := cmp.Diff([]int{0, 2}, e.Stopped); diff != "" {
		t.Errorf("stopped ranks:\n%s", diff)
	}
	if diff := cmp.Diff([]string{"boom"}, e.Evidence.Stderr); diff != "" {
		t.Errorf("evidence:\n%s", diff)
	}
	want := map[int]Reason{0: ReasonStopped, 1: ReasonExit, 2: ReasonStopped}
	for _, w := range pick[WorkerEnded](l.events.all()) {
		if w.Reason != want[w.Rank] {
			t.Errorf("rank %d ended for %s, want %s", w.Rank, w.Reason, want[w.Rank])
		}
	}
}

func TestExitCodes(t *testing.T) {
	tests := []struct {
		name, script string
		want         int
	}{
		{"all 0", "*: exit 0", 0},
		{"a code", "0: exit 5 | *: hang", 5},
		{"255", "0: exit 255 | *: hang", 255},
		{"SIGKILL", "1: die KILL | *: hang", 137},
		{"SIGTERM that we did not send", "1: die TERM | *: hang", 143},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if code := launch(t, 2, tt.script, nil).wait(); code != tt.want {
				t.Errorf("exit code %d, want %d", code, tt.want)
			}
		})
	}
}

// Also if all ranks then exit 0, and without a restart.
func TestToldToEndForReal(t *testing.T) {
	tests := []struct {
		signal syscall.Signal
		name   string
		want   int
		lines  []string
	}{
		{syscall.SIGTERM, "SIGTERM", 143, []string{"got SIGTERM"}},
		{syscall.SIGINT, "SIGINT", 130, []string{"got SIGTERM"}},
		{syscall.SIGHUP, "SIGHUP", 129, []string{"got SIGTERM"}},
		// Passed on, for stack dumps. The kernel does not promise the order.
		{syscall.SIGQUIT, "SIGQUIT", 131, []string{"got SIGQUIT", "got SIGTERM"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			l := launch(t, 2, "*: catch TERM; catch QUIT; say ready; hear "+itoa(len(tt.lines))+"; exit 0", func(d *draft) { d.Policy.MaxRestarts = 3 })
			l.line("[0] ready", "[1] ready")
			l.signal(tt.signal)
			if code := l.wait(); code != tt.want {
				t.Errorf("exit code %d, want %d", code, tt.want)
			}
			for _, line := range tt.lines {
				l.line("[0] "+line, "[1] "+line)
			}
			if got := l.history()[0].Outcome; got != "stopped: "+tt.name {
				t.Errorf("ledger: %q", got)
			}
		})
	}
}

// A signal that comes before the first rank, or while ranks are being started, leaves
// nothing behind.
func TestSignalDuringTheLaunch(t *testing.T) {
	for _, when := range []string{"preparing", "began", "first rank", "last rank"} {
		t.Run(when, func(t *testing.T) {
			d := newDraft(t, 4)
			l := newLaunched(t, d, "*: hang")
			l.plan = d.plan(t)
			l.signals = make(chan Signal, 1)
			var once bool
			send := func(now bool) {
				if now && !once {
					once = true
					l.signals <- Signal{Number: syscall.SIGTERM}
				}
			}
			if err := l.plan.PrepareLedger(); err != nil {
				t.Fatal(err)
			}
			l.begin(l.console(), func(e Event) {
				switch e := e.(type) {
				case AttemptPreparing:
					send(when == "preparing")
				case AttemptBegan:
					send(when == "began")
				case WorkerStarted:
					send(when == "first rank" || when == "last rank" && e.Local == 3)
				}
			})
			if code := l.wait(); code != 143 {
				t.Errorf("exit code %d", code)
			}
		})
	}
}

// A rank that does not hear the stop signal is killed when its time is over.
func TestStubbornRankIsKilled(t *testing.T) {
	l := launch(t, 2, "0: ignore TERM; say ready; hang | 1: gate fail; exit 6", func(d *draft) { d.Restop = 100 * time.Millisecond })
	l.gate("fail")
	l.line("[0] ready")
	l.open("fail")
	if code := l.wait(); code != 6 {
		t.Errorf("exit code %d", code)
	}
	for _, w := range pick[WorkerEnded](l.events.all()) {
		if w.Rank == 0 && (w.Exit.Signal != syscall.SIGKILL || w.Reason != ReasonStopped) {
			t.Errorf("rank 0: %+v", w)
		}
	}
	escalated := pick[StopEscalated](l.events.all())
	if len(escalated) != 1 || escalated[0].Signal != syscall.SIGKILL || escalated[0].Alive != 1 {
		t.Errorf("escalated %+v", escalated)
	}
}

// --forward: passed on to every leader, and the job goes on.
func TestForwardedSignalsReachTheWorkers(t *testing.T) {
	l := launch(t, 2, "*: catch USR1; catch USR2; say ready; await USR2; say goes on; exit 0", nil)
	l.line("[0] ready", "[1] ready")
	l.signal(syscall.SIGUSR1)
	l.line("[0] got SIGUSR1", "[1] got SIGUSR1")
	l.signal(syscall.SIGUSR2)
	if code := l.wait(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	l.line("[0] goes on", "[1] goes on")
}

// While the attempt runs, rank 0's store gets the reserved port and nobody else does;
// afterwards it is free.
func TestReservedPort(t *testing.T) {
	l := launch(t, 2, "0: listen; say listening; gate end | *: hang", func(d *draft) { d.Policy.MaxRestarts = 0 })
	l.gate("end")
	l.line("[0] listening")
	held := pick[AttemptBegan](l.events.all())[0].Attempt.MasterPort
	if !l.plan.PortRange.Contains(held) {
		t.Errorf("port %d is outside %v", held, l.plan.PortRange)
	}
	var taken *port.InUseError
	if other, err := port.ReserveFixed(held, 1); !errors.As(err, &taken) {
		t.Errorf("another launcher could reserve the port: %v", err)
		if err == nil {
			other.Close()
		}
	}
	l.open("end")
	// Rank 1 is still there: end it.
	l.signal(syscall.SIGTERM)
	l.wait()
	free, err := port.ReserveFixed(held, 1)
	if err != nil {
		t.Fatalf("the port is still taken after the run: %v", err)
	}
	free.Close()
}

func TestFixedPortThatIsTaken(t *testing.T) {
	taken, err := net.Listen("tcp", ":0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	l := launch(t, 2, "*: hang", func(d *draft) { d.MasterPort = taken.Addr().(*net.TCPAddr).Port })
	if code := l.wait(); code != ExitTryAgain {
		t.Errorf("exit code %d, want %d", code, ExitTryAgain)
	}
	end := pick[RunEnded](l.events.all())[0]
	if end.Failure == nil || !strings.Contains(end.Failure.Error(), strconv.Itoa(l.plan.MasterPort)) {
		t.Errorf("failure %v", end.Failure)
	}
	if len(pick[WorkerStarted](l.events.all())) != 0 {
		t.Error("a worker was started")
	}
}

// The first error comes from the file that torch writes; its directory is private,
// and gone after the run (checked by wait).
func TestErrorFileIsTheEvidence(t *testing.T) {
	l := launch(t, 2, "0: error-dir; hang | 1: error-file ValueError: x; err noise; exit 1", nil)
	if code := l.wait(); code != 1 {
		t.Errorf("exit code %d", code)
	}
	if got := pick[AttemptEnded](l.events.all())[0].Evidence.Message; got != "ValueError: x" {
		t.Errorf("message %q", got)
	}
	dir := filepath.Base(pick[AttemptBegan](l.events.all())[0].Attempt.ErrorDir)
	if !strings.HasPrefix(dir, "lenslaunch-errors-") {
		t.Errorf("directory %q", dir)
	}
	if i := slices.IndexFunc(l.out.all(), func(s string) bool { return strings.Contains(s, "mode") }); i >= 0 && l.out.all()[i] != "[0] mode drwx------" {
		t.Error(l.out.all()[i])
	}
}

// A temp directory that cannot be written costs the error files, not the run.
func TestWithoutErrorDirectory(t *testing.T) {
	l := launch(t, 1, "*: env", func(d *draft) {
		d.StateDir = t.TempDir()
		d.Env["TMPDIR"] = "/proc/none"
	})
	if code := l.wait(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	if _, set := l.environ(0, 0)["TORCHELASTIC_ERROR_FILE"]; set {
		t.Error("an error file is named in a directory that is not there")
	}
	if began := pick[AttemptBegan](l.events.all())[0]; len(began.Warnings) != 1 {
		t.Errorf("warnings %q", began.Warnings)
	}
}

// Only the node of rank 0 reserves; elsewhere the port is just told.
func TestOtherNodesReserveNothing(t *testing.T) {
	taken, err := net.Listen("tcp", ":0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	busy := taken.Addr().(*net.TCPAddr).Port
	l := launch(t, 2, "*: env", func(d *draft) {
		d.World = ranks.World{Nodes: 2, NodeRank: 1, LocalSize: 2, MasterAddr: "head", MasterPort: busy}
		d.MasterPort = busy
	})
	if code := l.wait(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	for rank := 2; rank < 4; rank++ {
		if env := l.environ(rank, 0); env["MASTER_PORT"] != strconv.Itoa(busy) || env["MASTER_ADDR"] != "head" || env["LOCAL_RANK"] != strconv.Itoa(rank-2) {
			t.Errorf("rank %d: %s:%s, local rank %s", rank, env["MASTER_ADDR"], env["MASTER_PORT"], env["LOCAL_RANK"])
		}
	}
}

// What the size check lets through is what the kernel takes.
func TestLongestVariableThatAPlanAllowsStarts(t *testing.T) {
	l := launch(t, 1, "-", func(d *draft) {
		d.Command = []string{"/bin/sh", "-c", "exit 9", strings.Repeat("x", maxString-1)}
		d.SetEnv = append(d.SetEnv, EnvVar{"NOTES", strings.Repeat("x", maxString-len("NOTES=")-1)})
	})
	if code := l.wait(); code != 9 {
		t.Errorf("exit code %d: %v", code, pick[AttemptEnded](l.events.all())[0].Faults)
	}
}
