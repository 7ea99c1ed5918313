package cli

import (
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"lenslaunch/internal/port"
	"lenslaunch/internal/proc"
	"lenslaunch/launcher"
	"lenslaunch/ranks"
)

// configured is the configuration that flags and variables make, on a machine with
// two GPUs.
func configured(t *testing.T, env map[string]string, flags ...string) launcher.Config {
	t.Helper()
	c, err := config(given(t, env, flags...), []string{"true"}, func() (int, bool) { return 2, true })
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// The defaults of the launch specification.
func TestDefaults(t *testing.T) {
	c := configured(t, nil)
	type defaults struct {
		Role                        string
		RoleSet                     bool
		RunID, StateDir, Dir        string
		MaxRestarts                 int
		Delay, DelayMax, MinUptime  time.Duration
		Stop                        launcher.Ladder
		Restop, Grace               time.Duration
		Forward                     []syscall.Signal
		MasterPort                  int
		Ports                       port.Range
		Env, Unset, Attrs, Defaults int
	}
	want := defaults{
		Role: "trainer", Delay: time.Second, DelayMax: time.Minute,
		Stop:   launcher.Ladder{Rungs: []launcher.Rung{{Signal: syscall.SIGTERM}}, Kill: 20 * time.Second},
		Restop: 15 * time.Second, Forward: []syscall.Signal{syscall.SIGUSR1, syscall.SIGUSR2}, Ports: port.Default(),
	}
	got := defaults{
		c.Role, c.RoleSet, c.RunID, c.StateDir, c.Dir, c.Policy.MaxRestarts, c.Policy.Delay, c.Policy.DelayMax, c.Policy.MinUptime,
		c.Stop, c.Restop, c.Grace, c.Forward, c.MasterPort, c.PortRange, len(c.SetEnv), len(c.UnsetEnv), len(c.Attrs), len(c.AttrDefaults),
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for code, fatal := range map[int]bool{0: false, 1: false, 2: true, 3: false, 126: true, 127: true, 128: false} {
		if got := c.Policy.NoRestartOn.Has(proc.Exit{Code: code}); got != fatal {
			t.Errorf("exit code %d is fatal: %v, want %v", code, got, fatal)
		}
	}
	if !c.Policy.RestartOn.Empty() {
		t.Errorf("--restart-on is %v by default, want nothing", c.Policy.RestartOn)
	}
}

// Each flag reaches its field.
func TestConfig(t *testing.T) {
	c := configured(t, map[string]string{"LENSLAUNCH_ENV": "A=1\nB=x=y", "LENSLAUNCH_UNSET_ENV": "C\nD"},
		"--role", "actor", "--run-id", "r", "--state-dir", "s", "--chdir", "/tmp/%r", "--max-restarts", "3",
		"--restart-delay", "2s", "--restart-delay-max", "3m", "--min-uptime", "4s", "--restart-on", "5,KILL", "--no-restart-on", "6",
		"--stop-signal", "INT:5s,TERM:15s", "--restart-stop-timeout", "7s", "--failure-grace", "8s", "--forward", "HUP", "--save-signal", "USR2:6m", "--on-stop-code", "9",
		"--attr", "k=v", "--attr-default", "d=w", "--attr-default", "e=", "--master-port", "29500", "--port-range", "100-200")
	if c.Role != "actor" || !c.RoleSet || c.RunID != "r" || c.StateDir != "s" || c.Dir != "/tmp/%r" {
		t.Errorf("identity: %q, %v, %q, %q, %q", c.Role, c.RoleSet, c.RunID, c.StateDir, c.Dir)
	}
	p := c.Policy
	if p.MaxRestarts != 3 || p.Delay != 2*time.Second || p.DelayMax != 3*time.Minute || p.MinUptime != 4*time.Second {
		t.Errorf("policy: %+v", p)
	}
	if !p.RestartOn.Has(proc.Exit{Signal: syscall.SIGKILL}) || p.RestartOn.Has(proc.Exit{Code: 6}) || !p.NoRestartOn.Has(proc.Exit{Code: 6}) {
		t.Errorf("restart on %v, not on %v", p.RestartOn, p.NoRestartOn)
	}
	want := launcher.Ladder{
		Rungs: []launcher.Rung{{Signal: syscall.SIGINT}, {Signal: syscall.SIGTERM, After: 5 * time.Second}}, Kill: 20 * time.Second,
	}
	if diff := cmp.Diff(want, c.Stop); diff != "" {
		t.Errorf("ladder (-want +got):\n%s", diff)
	}
	if c.Restop != 7*time.Second || c.Grace != 8*time.Second || !slices.Equal(c.Forward, []syscall.Signal{syscall.SIGHUP}) {
		t.Errorf("stop: %v, %v, %v", c.Restop, c.Grace, c.Forward)
	}
	if c.Save != (launcher.Save{Signal: syscall.SIGUSR2, Within: 6 * time.Minute, Code: 9}) {
		t.Errorf("save: %+v", c.Save)
	}
	if diff := cmp.Diff([]launcher.EnvVar{{Key: "A", Value: "1"}, {Key: "B", Value: "x=y"}}, c.SetEnv); diff != "" {
		t.Errorf("variables (-want +got):\n%s", diff)
	}
	if !slices.Equal(c.UnsetEnv, []string{"C", "D"}) || len(c.Attrs) != 1 || len(c.AttrDefaults) != 2 {
		t.Errorf("taken away %q, attributes %v, defaults %v", c.UnsetEnv, c.Attrs, c.AttrDefaults)
	}
	if c.MasterPort != 29500 || c.PortRange != (port.Range{First: 100, Last: 200}) {
		t.Errorf("ports: %d, %v", c.MasterPort, c.PortRange)
	}
}

// What package ranks is told, and where it came from.
func TestRequest(t *testing.T) {
	three, one := 3, 1
	got := configured(t, map[string]string{"LENSLAUNCH_NPROC": "8", "SLURM_JOB_ID": "77"},
		"--nnodes", "3", "--node-rank", "1", "--master-addr", "fe80::1", "--master-port", "1234", "--scheduler", "none", "--max-restarts", "2").Request
	want := ranks.Request{
		NProc: "8", NProcSet: true, NNodes: &three, NodeRank: &one, MasterAddr: "fe80::1", MasterPort: 1234, Scheduler: "none", MaxRestarts: 2,
		HasRunID: true, GPUs: 2, GPUsKnown: true,
		Origin: map[string]string{
			"--nproc": "LENSLAUNCH_NPROC", "--nnodes": "--nnodes", "--node-rank": "--node-rank", "--master-addr": "--master-addr",
			"--master-port": "--master-port", "--scheduler": "--scheduler", "--max-restarts": "--max-restarts",
		},
	}
	if got.CPUs < 1 || got.Foreign == nil || got.StepAbove == nil {
		t.Errorf("%d CPUs, foreign processes known: %v", got.CPUs, got.Foreign != nil)
	}
	if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(ranks.Request{}, "CPUs", "Foreign", "StepAbove")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if alone := configured(t, nil).Request; alone.NNodes != nil || alone.NodeRank != nil || alone.HasRunID || alone.MasterPort != 0 {
		t.Errorf("nothing was given: %+v", alone)
	}
}

func TestOutput(t *testing.T) {
	tests := []struct {
		name  string
		world ranks.World
		flags []string
		mode  launcher.OutputMode
		stdin int
		shown []int // local ranks
	}{
		{"one rank", ranks.World{Nodes: 1, LocalSize: 1}, nil, launcher.OutputPlain, 0, []int{0}},
		{"one rank of many nodes", ranks.World{Nodes: 4, NodeRank: 2, LocalSize: 1}, nil, launcher.OutputPlain, 0, []int{0}},
		{"several", ranks.World{Nodes: 1, LocalSize: 3}, nil, launcher.OutputPrefix, -1, []int{0, 1, 2}},
		{"picked", ranks.World{Nodes: 1, LocalSize: 4}, []string{"--ranks", "0,2-3"}, launcher.OutputPrefix, -1, []int{0, 2, 3}},
		{"none", ranks.World{Nodes: 1, LocalSize: 2}, []string{"--output", "none"}, launcher.OutputNone, -1, nil},
		{"rank 0", ranks.World{Nodes: 2, LocalSize: 2}, []string{"--output", "rank0"}, launcher.OutputRank0, -1, []int{0}},
		{"rank 0 is on another node", ranks.World{Nodes: 2, NodeRank: 1, LocalSize: 2}, []string{"--output", "rank0"},
			launcher.OutputRank0, -1, nil},
		{"rank 0 is not picked", ranks.World{Nodes: 1, LocalSize: 2}, []string{"--output", "rank0", "--ranks", "1"},
			launcher.OutputRank0, -1, nil},
		{"stdin for one", ranks.World{Nodes: 1, LocalSize: 2}, []string{"--stdin", "1"}, launcher.OutputPrefix, 1, []int{0, 1}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := readOutput(given(t, nil, tt.flags...), tt.world)
			if err != nil {
				t.Fatal(err)
			}
			var shown []int
			for _, r := range tt.world.LocalRanks() {
				if got.Shown(r.Local, r.Rank) {
					shown = append(shown, r.Local)
				}
			}
			if got.Mode != tt.mode || got.Stdin != tt.stdin || !slices.Equal(shown, tt.shown) {
				t.Errorf("mode %v, stdin %d, shown %v, want %v, %d, %v", got.Mode, got.Stdin, shown, tt.mode, tt.stdin, tt.shown)
			}
		})
	}
}

// The first wrong flag is the one that is told, always the same.
func TestFirstFaultIsStable(t *testing.T) {
	first := ""
	for range 20 {
		s := given(t, nil, "--restart-on", "x", "--no-restart-on", "y", "--stop-signal", "z")
		_, err := config(s, nil, func() (int, bool) { return 0, false })
		if err == nil {
			t.Fatal("nonsense is accepted")
		}
		if first == "" {
			first = err.Error()
		}
		if err.Error() != first {
			t.Fatalf("%v, and before it was %s", err, first)
		}
	}
}
