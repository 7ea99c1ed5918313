//go:build faults

package faults

import (
	"testing"
	"time"

	"lenslaunch/internal/rundir"
)

// A launcher is killed together with its guard. The next one that gets the same run
// directory, and nothing else, ends what is left of the first, although those ranks hold
// files of the directory open, and says what became of them.
func TestRunDirectoryOfALauncherThatWasKilled(t *testing.T) {
	for name, tee := range map[string]string{"files of their own": "none", "files by the launcher": "all"} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t, ownTools(t), setting{flags: []string{"--cgroup", "off", "--tee", tee}, settle: time.Second, unnamed: true})
			k, err := kindNamed("holds pipes")
			if err != nil {
				t.Fatal(err)
			}
			s.begin(k)
			var c cell
			bothKilled(s, &c)
			if c.orphans == 0 {
				t.Error("nothing was left for the next launcher to end")
			}
			if alive := s.settle(s.set.settle); len(alive) > 0 {
				t.Errorf("still alive: %v", alive)
			}
			run, err := rundir.Read(s.runDir())
			if err != nil || len(run.Attempts) != 2 {
				t.Fatalf("%+v, %v", run, err)
			}
			first, second := run.Attempts[0], run.Attempts[1]
			if first.Outcome != rundir.OutcomeUnknown || len(first.Ranks) != s.ranks {
				t.Errorf("the first attempt: %+v", first)
			}
			if second.Outcome != rundir.OutcomeSuccess || second.RunID != first.RunID || second.Number != first.Number+1 || second.UUID == first.UUID {
				t.Errorf("the second attempt: %+v", second)
			}
		})
	}
}
