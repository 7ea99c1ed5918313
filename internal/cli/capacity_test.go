package cli

import (
	"strings"
	"testing"

	"lenslaunch/ranks"
)

func TestCapacity(t *testing.T) {
	world := func(n int) ranks.World { return ranks.World{Nodes: 1, LocalSize: n} }
	tests := []struct {
		name      string
		has       capacity
		ranks     int
		thinkable string // "": no fault
		startable string
	}{
		{"nothing is known", capacity{}, 1 << 30, "", ""},
		{"one rank needs no pipe", capacity{files: 10, processes: 1, pids: 1}, 1, "", ""},
		{"just enough files", capacity{files: 48}, 10, "", ""},
		{"a file too few", capacity{files: 47}, 10, "",
			"--nproc asks for 10 local ranks, which need more than 48 open files, and the limit is 47 (ulimit -n): raise it with `ulimit -n 96`, or start fewer ranks"},
		{"processes", capacity{files: 1000, processes: 9}, 10, "",
			"--nproc asks for 10 local ranks, more processes than the 9 that this user may have (ulimit -u): raise it with `ulimit -u`, or start fewer ranks"},
		{"all process numbers", capacity{pids: 10}, 10, "", ""},
		{"more than that", capacity{pids: 10}, 11,
			"--nproc asks for 11 local ranks, and this system has 10 process numbers (/proc/sys/kernel/pid_max): start fewer ranks on this node", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			check(t, "thinkable", tt.has.thinkable(world(tt.ranks), "--nproc"), tt.thinkable)
			check(t, "startable", tt.has.startable(world(tt.ranks), "--nproc"), tt.startable)
		})
	}
}

func check(t *testing.T, what string, err error, want string) {
	t.Helper()
	got := ""
	if err != nil {
		got = err.Error()
	}
	if got != want {
		t.Errorf("%s: %q, want %q", what, got, want)
	}
}

// The variable that asked is named, not the flag that nobody wrote.
func TestCapacityNamesTheVariable(t *testing.T) {
	err := capacity{files: 1}.startable(ranks.World{Nodes: 1, LocalSize: 8}, "LENSLAUNCH_NPROC")
	if err == nil || !strings.HasPrefix(err.Error(), "LENSLAUNCH_NPROC asks for 8 local ranks") {
		t.Errorf("%v", err)
	}
}

func TestSystemCapacity(t *testing.T) {
	has := systemCapacity()
	if err := has.startable(ranks.World{Nodes: 1, LocalSize: 2}, "--nproc"); err != nil {
		t.Errorf("two ranks do not fit this machine: %v", err)
	}
	if err := has.thinkable(ranks.World{Nodes: 1, LocalSize: 1 << 40}, "--nproc"); has.pids > 0 && err == nil {
		t.Error("a million million ranks fit this machine")
	}
}
