package launcher

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"lenslaunch/internal/rundir"
)

// RunDir is the open directory of a run: what its ranks write goes there, and what
// happens is recorded. A nil RunDir keeps nothing.
type RunDir struct {
	dir    *rundir.Dir
	record *rundir.Recorder
	warn   func(error)
	lost   sync.Once // the first output that could not be kept was told
}

// OpenRunDir makes or continues the run directory of a plan, or returns nil if it has
// none. Afterwards warn is told, once for each kind, what could not be written. The error
// is a *Failure: nothing was started, and what was there is as it was.
func OpenRunDir(p *Plan, version string, warn func(error)) (*RunDir, error) {
	if p.RunDir == "" {
		return nil, nil
	}
	dir, err := rundir.Open(rundir.Options{
		Dir: p.RunDir, Node: p.World.NodeRank, Nodes: p.World.Nodes, Launcher: rundir.Launcher{Version: version}, Warn: warn,
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
	return &RunDir{dir: dir, record: rundir.NewRecorder(dir), warn: warn}, nil
}

// closeTime bounds the end of the records: the disk may be another machine's that does
// not answer any more.
const closeTime = 5 * time.Second

// Close writes what is left to write, as far as the disk takes it in closeTime.
func (d *RunDir) Close() {
	if d == nil {
		return
	}
	ended := make(chan error, 1)
	go func() {
		d.record.Close()
		ended <- d.dir.Close()
	}()
	select {
	case err := <-ended:
		if err != nil {
			d.warn(err)
		}
	case <-time.After(closeTime):
		d.warn(fmt.Errorf("the records in %s are not complete: the disk does not answer", d.dir.Path()))
	}
}

// begin makes the directory of an attempt; nil if it cannot.
func (d *RunDir) begin(p *Plan, a Attempt, warnings []string) (*rundir.Attempt, error) {
	info := rundir.BeginInfo{
		Number: a.Number, UUID: a.UUID, RestartCount: a.RestartCount, MasterAddr: p.World.MasterAddr, MasterPort: a.MasterPort,
		Warnings: warnings,
	}
	if p.World.Nodes > 1 {
		info.Name = p.sharedName(a)
	}
	var err error
	if info.Ranks, info.Env, err = p.recorded(a); err != nil {
		return nil, err
	}
	return d.dir.Begin(info)
}

// recorded is what the launcher sets for its ranks: alike for all, and where they
// differ.
func (p *Plan) recorded(a Attempt) (list []rundir.RankInfo, alike map[string]string, err error) {
	for local := range p.World.LocalSize {
		w, err := p.Worker(local, a)
		if err != nil {
			return nil, nil, err
		}
		list = append(list, rundir.RankInfo{Rank: w.Rank, Local: local, Env: w.Set})
	}
	alike = map[string]string{}
	for key, value := range list[0].Env {
		if everywhere(list, key, value) {
			alike[key] = value
		}
	}
	for _, r := range list {
		for key := range alike {
			delete(r.Env, key)
		}
	}
	return list, alike, nil
}

func everywhere(list []rundir.RankInfo, key, value string) bool {
	for _, r := range list {
		if other, ok := r.Env[key]; !ok || other != value {
			return false
		}
	}
	return true
}

// outputLost says once that output cannot be kept; the console still shows it.
func (d *RunDir) outputLost(rank int, cause error) {
	d.lost.Do(func() {
		d.warn(fmt.Errorf("cannot keep the output of rank %d in %s: %w; the job goes on, and what follows of it is on the console only",
			rank, d.dir.Path(), cause))
	})
}
