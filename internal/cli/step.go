package cli

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"lenslaunch/detect"
	"lenslaunch/launcher"
	"lenslaunch/ranks"
)

// Slurm kills a step's tasks KillWait after it has asked them to end. The launcher
// has to be through before that: once it is killed, nobody saves any more.
const (
	beforeKill  = 3 * time.Second
	leastBudget = time.Second
)

// stepBudget gives the ranks of a Slurm step the time that Slurm gives the step, where
// --stop-timeout does not say otherwise (the cluster specification).
func (c *call) stepBudget(s settings, config *launcher.Config, w *ranks.World) {
	if !w.InStep || s.get("stop-timeout").given {
		return
	}
	wait, from := detect.KillWait(context.Background())
	budget := max(wait-beforeKill, leastBudget)
	ladder, err := launcher.ParseLadder(s.get("stop-signal").text, budget)
	if err != nil {
		return // it was read before, with another time: it has no mistake
	}
	config.Stop = ladder
	if ladder.Kill != budget { // it has times of its own, as with a longer grace of preemption in mind
		w.Why = append(w.Why, "stop timeout "+ladder.Kill.String()+" from "+s.get("stop-signal").from+"; Slurm's KillWait is "+wait.String()+" ("+from+")")
		return
	}
	w.Why = append(w.Why, "stop timeout "+ladder.Kill.String()+" from Slurm's KillWait "+wait.String()+" ("+from+")")
}

// typed is the command line as it was typed, for one that is proposed instead. A
// subcommand such as env is left out: what is proposed runs the job.
func (c *call) typed(command []string) []string {
	args := slices.DeleteFunc(slices.Clone(c.inv.flags), func(flag string) bool { return strings.HasPrefix(flag, "--format") })
	if len(command) == 0 {
		return append(args, "--", "COMMAND")
	}
	return append(append(args, "--"), command...)
}

// program is how a shell calls this program, in a command line that is proposed: by its
// name where PATH leads to it, else by its path.
func program(path, self string) string {
	const name = "lenslaunch"
	own, err := os.Stat(self)
	if err != nil || !strings.HasPrefix(filepath.Base(self), name) {
		return name // it cannot be told, or this is a test
	}
	for _, dir := range filepath.SplitList(path) {
		if info, err := os.Stat(filepath.Join(dir, name)); err == nil && info.Mode().IsRegular() {
			if os.SameFile(info, own) {
				return name
			}
			break
		}
	}
	return self
}
