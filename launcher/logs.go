package launcher

import (
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"lenslaunch/internal/logmux"
	"lenslaunch/internal/rundir"
)

// Logs say what becomes of the ranks' output besides the console (the launch
// specification, "Output"). The zero value keeps nothing.
type Logs struct {
	Dir     string               // --log-dir, empty: none; may hold %i and %n
	MaxSize int64                // --log-max-size, in bytes; 0: no cap
	Keep    int                  // --log-keep: files that were rotated away
	Tee     func(local int) bool // --tee: which ranks reach the console, too; nil: all
}

// consoleHold is how long a slow console may hold a rank whose output is in a file.
const consoleHold = 5 * time.Second

// placeLogs decides where the run directory is, and whose run it continues.
func (p *Plan) placeLogs() error {
	if p.Logs.Dir == "" {
		return nil
	}
	for _, kind := range []string{"%r", "%l", "%a"} {
		if strings.Contains(strings.ReplaceAll(p.Logs.Dir, "%%", ""), kind) {
			return usage(fmt.Sprintf("--log-dir %q has %s, but the directory is that of the whole run: the attempts and ranks are in it", p.Logs.Dir, kind),
				"use %i (run id) or %n (node rank), or neither")
		}
	}
	p.adoptRun()
	dir := place{node: p.World.NodeRank, runID: p.RunID}.expand(p.Logs.Dir)
	abs, err := filepath.Abs(dir)
	if err != nil {
		return usage(fmt.Sprintf("cannot use --log-dir %q: %v", dir, cause(err)), "give an absolute path")
	}
	p.RunDir = abs
	return nil
}

// adoptRun gives a run that nobody named the name of the run whose directory it
// continues.
func (p *Plan) adoptRun() {
	if !p.generated() || strings.Contains(p.Logs.Dir, "%i") {
		return
	}
	dir := place{node: p.World.NodeRank}.expand(p.Logs.Dir)
	// What is wrong with the directory is told when it is opened.
	if run, err := rundir.Read(dir); err == nil && run.RunID != "" {
		p.RunID, p.RunIDFrom = run.RunID, "the run directory"
	}
}

// attemptName is the name that the next attempt's directory would have, empty: none.
func (p *Plan) attemptName(a Attempt) (string, error) {
	switch {
	case p.RunDir == "":
		return "", nil
	case p.World.Nodes > 1:
		return p.sharedName(a), nil
	}
	return rundir.NextName(p.RunDir)
}

// sharedName is the same on nodes that do not talk to each other.
func (p *Plan) sharedName(a Attempt) string {
	count := int64(a.Number)
	if a.RestartCount != nil {
		count = *a.RestartCount
	}
	step := 0
	if n := integer(p.Env["SLURM_STEP_ID"]); n != nil && *n > 0 && *n < 1<<31 {
		step = int(*n)
	}
	return rundir.UncoordinatedName(count, step)
}

// onConsole reports whether a rank's output reaches the console.
func (p *Plan) onConsole(w Worker) bool {
	return p.Output.Shown(w.Local, w.Rank) && (p.RunDir == "" || p.Logs.Tee == nil || p.Logs.Tee(w.Local))
}

// label gives a stream the prefix of its rank.
func (p *Plan) label(s *logmux.Stream, w Worker, a Attempt) {
	if p.Output.Mode != OutputPrefix {
		return
	}
	host, _ := p.hostname()
	p.Output.Prefix.Label(s, logmux.Place{
		Rank: w.Rank, World: p.World.WorldSize(), Local: w.Local, LocalWorld: p.World.LocalSize,
		Node: p.World.NodeRank, Nodes: p.World.Nodes, Attempt: a.Number, Host: host, Role: p.Role, RunID: p.RunID,
	})
	s.Color = w.Rank + 1
}

func (p *Plan) hostname() (string, error) {
	if p.host.Hostname == nil {
		return "", nil
	}
	return p.host.Hostname()
}
