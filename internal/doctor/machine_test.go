package doctor

import (
	"strings"
	"testing"
	"time"

	"lenslaunch/internal/address"
	"lenslaunch/internal/port"
)

// subject is a launch of one node that has nothing to complain about.
func subject() Subject {
	return Subject{
		Env: map[string]string{}, Nodes: 1, LocalSize: 2, PortRange: port.Default(), NProc: "auto",
		Network: address.System(), Now: time.Now,
	}
}

// expect checks the only finding of a list.
func expect(t *testing.T, list []Finding, level Level, found string) {
	t.Helper()
	if len(list) != 1 || list[0].Level != level || !strings.Contains(list[0].Found, found) {
		t.Errorf("%+v, want %s with %q", list, level, found)
	}
}

// Every finding that is not good says what to do, and is one line.
func TestEveryFindingSaysWhatToDo(t *testing.T) {
	s := subject()
	s.TelemetryFault = "nonsense"
	s.RunDir, s.StateDir = t.TempDir(), t.TempDir()
	checks := map[string]bool{}
	for _, f := range Check(t.Context(), s) {
		checks[f.Check] = true
		if f.Found == "" || f.Level != Good && f.Do == "" || strings.ContainsAny(f.Found+f.Do, "\r\n") {
			t.Errorf("%+v", f)
		}
	}
	for _, check := range []string{"kernel", "cgroup", "limits", "shared memory", "gpus", "names", "ports", "telemetry", "run directory", "ledger", "variables", "clock"} {
		if !checks[check] {
			t.Errorf("nothing is said about %s", check)
		}
	}
}

func TestFails(t *testing.T) {
	if Fails([]Finding{{Level: Good}, {Level: Warning}, {Level: Note}}) || !Fails([]Finding{{Level: Good}, {Level: Problem}}) {
		t.Error("only a problem fails")
	}
}

func TestVersion(t *testing.T) {
	for text, want := range map[string]int{
		"5.14.0-362.el9.x86_64": 5014, "6.1.0-18-amd64": 6001, "5.3": 5003, "6.18.44-fc": 6018, "4.18.0": 4018,
		"": 0, "x": 0, "5": 0, "-1.2": 0, "5.x": 0, "99999.1": 0,
	} {
		if got := version(text); got != want {
			t.Errorf("%q: %d, want %d", text, got, want)
		}
	}
}

func FuzzVersion(f *testing.F) {
	f.Add("5.14.0-362")
	f.Fuzz(func(t *testing.T, text string) {
		if v := version(text); v < 0 || v > 1_000_999 {
			t.Errorf("%q: %d", text, v)
		}
	})
}

func TestLimits(t *testing.T) {
	s := subject()
	s.FileLimit, s.FileNeed = 100, 200
	expect(t, limits(t.Context(), s), Problem, "2 local ranks need more than 200 open files, and the limit is 100")
	s.FileLimit = 1024
	expect(t, limits(t.Context(), s), Warning, "1024 open files are few")
	s.FileLimit = 0
	expect(t, limits(t.Context(), s), Good, "no limit for 2 local ranks")
}

func TestGPUs(t *testing.T) {
	s := subject()
	s.NProc = "gpu"
	expect(t, gpus(t.Context(), s), Problem, "no GPU can be counted")
	s.NProc = "auto"
	expect(t, gpus(t.Context(), s), Note, "no GPU was found")
	s.GPUs, s.GPUsKnown = 1, true
	expect(t, gpus(t.Context(), s), Warning, "2 local ranks have 1 GPUs")
	s.GPUs = 8
	expect(t, gpus(t.Context(), s), Warning, "6 of 8 GPUs would have no rank")
	s.GPUs = 2
	expect(t, gpus(t.Context(), s), Good, "2 GPUs")
	s.Env["CUDA_VISIBLE_DEVICES"] = "3,4"
	expect(t, gpus(t.Context(), s), Good, "by CUDA_VISIBLE_DEVICES=3,4")
}
