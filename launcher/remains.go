package launcher

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"

	"lenslaunch/internal/cgroup"
	"lenslaunch/internal/ledger"
	"lenslaunch/internal/proc"
	"lenslaunch/internal/tree"
)

// launchersKilled lists the launchers of this run that are gone without a word: where
// the guard was killed too, processes of theirs may live on.
func launchersKilled(h ledger.History) []proc.ID {
	var dead []proc.ID
	for _, a := range h.Attempts {
		id := proc.ID{Pid: a.Launcher.Pid, Start: a.Launcher.Start}
		if a.Outcome == ledger.OutcomeUnknown && !slices.Contains(dead, id) {
			dead = append(dead, id)
		}
	}
	return dead
}

// clear ends what launchers of this run that were killed together with their guards
// have left, before the new attempt begins beside it. It touches nothing of a launcher
// that lives, nor of another run.
func (f *forest) clear(ctx context.Context, dead []proc.ID) []string {
	if len(dead) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, sweepTime)
	defer cancel()
	f.clearGroups(ctx, dead)
	var said []string
	ended := 0
	for _, mark := range tree.Marks(dead) {
		result := sweep(ctx, tree.Finder{Mark: mark}, nil)
		ended += result.Killed
		for _, l := range result.Left {
			said = append(said, fmt.Sprintf("pid %d (%s) of an earlier attempt cannot be ended: %s", l.Pid, l.Comm, why(l)))
		}
	}
	if ended > 0 {
		said = append(said, fmt.Sprintf("ended %d processes that an earlier attempt of this run had left", ended))
	}
	return said
}

// clearGroups ends the control groups of dead launchers.
func (f *forest) clearGroups(ctx context.Context, dead []proc.ID) {
	if f.parent == nil {
		return
	}
	alive := func(pid int, start uint64) bool { return proc.ID{Pid: pid, Start: start}.Alive() }
	for _, path := range cgroup.Stale(f.parent, alive) {
		pid, start, _, ok := cgroup.ParseGroupName(filepath.Base(path))
		if !ok || !slices.Contains(dead, proc.ID{Pid: pid, Start: start}) {
			continue
		}
		group, err := cgroup.Open(path)
		if err != nil {
			continue // it has gone meanwhile
		}
		if group.Kill() == nil && group.WaitEmpty(ctx) == nil {
			// One that stays is empty and costs nothing.
			_ = group.Remove()
		}
		group.Close()
	}
}
