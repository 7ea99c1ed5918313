package launcher

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"lenslaunch/internal/openwork"
	"lenslaunch/internal/rundir"
	"lenslaunch/journal"
)

// RunDir is the open directory of a run: what its ranks write goes there, and what
// happens is recorded. A nil RunDir keeps nothing. Whatever becomes of the directory, the
// job goes on: that is told once.
type RunDir struct {
	dir    *rundir.Dir
	record *rundir.Recorder
	warn   func(error)
	first  sync.Once
	told   chan struct{} // closed: warn has returned
}

// OpenRunDir makes or continues the run directory of a plan, or returns nil if it has
// none. Afterwards warn is told once, in a goroutine of its own, when something could not
// be written. The error is a *Failure: nothing was started, and what was there is as it
// was.
func OpenRunDir(p *Plan, version string, warn func(error)) (*RunDir, error) {
	if p.RunDir == "" {
		return nil, nil
	}
	d := &RunDir{warn: warn, told: make(chan struct{})}
	var err error
	d.dir, err = rundir.Open(rundir.Options{
		Dir: p.RunDir, Node: p.World.NodeRank, Nodes: p.World.Nodes, Launcher: rundir.Launcher{Version: version}, Warn: d.fail,
		Run: rundir.RunInfo{
			RunID: p.RunID, JobUUID: p.JobUUID, Command: p.Command, Role: p.Role,
			WorldSize: p.World.WorldSize(), Ranks: p.World.LocalSize, Why: p.Why,
		},
	})
	var held *rundir.HeldError
	var broken *rundir.FileError
	switch {
	case errors.As(err, &held), errors.As(err, &broken):
		return nil, usage(err.Error(), "") // they say what to do
	case err != nil:
		return nil, usage(fmt.Sprintf("cannot use --log-dir: %v", err), "give a directory that you own and can write")
	}
	d.record = rundir.NewRecorder(d.dir)
	return d, nil
}

// NodePath is where this node's own files lie; empty: nowhere.
func (d *RunDir) NodePath() string {
	if d == nil {
		return ""
	}
	return d.dir.NodePath()
}

// Found enters what a process of an earlier attempt had open when it went.
func (d *RunDir) Found(w openwork.Work) {
	if d != nil && w.Group != journal.LauncherGroup {
		d.dir.Found(rundir.Found{Attempt: w.Group, Rank: w.Rank, Doing: Doing(w)})
	}
}

// fail tells of the first thing that could not be written. Whoever finds it out does not
// wait for that: a console that nobody reads holds up whoever writes to it, and a rank or
// the record must not stand behind it.
func (d *RunDir) fail(err error) {
	d.first.Do(func() {
		go func() {
			defer close(d.told)
			d.warn(err)
		}()
	})
}

// diskTime bounds every wait for the disk at the end of an attempt or a run: it may be
// another machine's that does not answer any more.
const diskTime = 5 * time.Second

// Close writes what is left to write, as far as the disk takes it in diskTime.
func (d *RunDir) Close() {
	if d == nil {
		return
	}
	err, inTime := patiently(diskTime, func() error {
		d.record.Close()
		return d.dir.Close()
	})
	switch {
	case !inTime:
		d.fail(fmt.Errorf("the record of the run in %s is not complete: the disk does not answer", d.dir.Path()))
	case err != nil:
		d.fail(err)
	}
	// Nobody is told any more, but who is being told has a moment to read it.
	d.first.Do(func() { close(d.told) })
	patiently(lastWords, func() struct{} { return <-d.told })
}

// patiently runs f and returns what it returns, if that comes in time. If not, f goes on
// for as long as it takes: it must not change what others use.
func patiently[T any](most time.Duration, f func() T) (value T, inTime bool) {
	answer := make(chan T, 1)
	go func() { answer <- f() }()
	timer := time.NewTimer(most)
	defer timer.Stop()
	select {
	case value = <-answer:
		return value, true
	case <-timer.C:
		return value, false
	}
}

// begin makes the directory of an attempt; the error says that there is none.
func (d *RunDir) begin(p *Plan, a Attempt, warnings []string) (*rundir.Attempt, error) {
	info := rundir.BeginInfo{
		Number: a.Number, UUID: a.UUID, RestartCount: a.RestartCount, MasterAddr: p.World.MasterAddr, MasterPort: a.MasterPort,
		Warnings: warnings,
	}
	if p.World.Nodes > 1 {
		info.Name = p.sharedName(a)
	}
	info.Ranks, info.Env = p.recorded(a)
	return d.dir.Begin(info)
}

// outputLost says that output cannot be kept.
func (d *RunDir) outputLost(rank int, cause error) {
	if errors.Is(cause, os.ErrClosed) {
		return // the attempt is over: what a stream still holds was counted
	}
	d.fail(fmt.Errorf("cannot keep the output of rank %d: %w: what is kept of the run in %s has gaps from now on", rank, cause, d.dir.Path()))
}

// Lost says that something else which belongs to the directory cannot be kept there: the
// ledger, journals, spans. One disk that is full is told of once.
func (d *RunDir) Lost(cause error) {
	d.fail(fmt.Errorf("%w: what is kept of the run in %s has gaps from now on", cause, d.dir.Path()))
}
