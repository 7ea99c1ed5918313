package doctor

import (
	"context"
	"fmt"
	"time"

	"lenslaunch/internal/address"
	"lenslaunch/internal/port"
)

// Level is how bad a finding is.
type Level string

// Levels, from the best.
const (
	Good    Level = "ok"
	Note    Level = "note"    // good to know: something is done without
	Warning Level = "warning" // may fail
	Problem Level = "problem" // will fail
)

// Finding is one line of the diagnosis.
type Finding struct {
	Check string `json:"check"` // "kernel", "limits", ...
	Level Level  `json:"level"`
	Found string `json:"found"`        // what is so
	Do    string `json:"do,omitempty"` // what to do about it
}

// Subject is the launch that is asked about.
type Subject struct {
	Env map[string]string

	Unplaced                   bool // the launch is refused: the next three are guesses
	Nodes, NodeRank, LocalSize int
	Hosts                      []string // names of the nodes where the scheduler gives them
	MasterAddr                 string   // empty: not known
	MasterPort                 int      // 0: any free one of PortRange
	PortRange                  port.Range
	Iface                      string

	GPUs      int
	GPUsKnown bool
	NProc     string // how many ranks were asked for

	RunDir    string // --log-dir, empty: none
	StateDir  string // where the ledger lies, empty: nowhere
	FileLimit uint64 // open files, 0: no limit
	FileNeed  uint64 // what the ranks need of them

	Collectors     []Collector // where telemetry would be sent to
	TelemetryElse  string      // a file or a console where it goes; empty: nowhere
	TelemetryFault string      // what is wrong with the variables that say so

	Network address.Network
	Now     func() time.Time
}

// Check runs all checks.
func Check(ctx context.Context, s Subject) []Finding {
	var all []Finding
	for _, check := range []func(context.Context, Subject) []Finding{
		kernel, groups, limits, sharedMemory, gpus, names, ports, telemetry, directories, variables, clock,
	} {
		all = append(all, check(ctx, s)...)
	}
	return all
}

// Fails reports whether something will fail.
func Fails(list []Finding) bool {
	for _, f := range list {
		if f.Level == Problem {
			return true
		}
	}
	return false
}

// one is a single finding.
func one(check string, level Level, do, found string, args ...any) []Finding {
	return []Finding{{Check: check, Level: level, Found: fmt.Sprintf(found, args...), Do: do}}
}
