//go:build faults && linux

package faults

import (
	"strconv"
	"syscall"
	"testing"

	"lenslaunch/test/harness"
)

// A launcher whose stderr is a full pipe cannot say anything, and does its work all
// the same: told to end, it stops the job and ends, at the latest when its time to
// stop is over. (pytorch#76287 and others: the launcher waits for ever.)
func TestFullPipeOnStderr(t *testing.T) {
	for _, ranks := range []int{1, 2} {
		t.Run(strconv.Itoa(ranks), func(t *testing.T) {
			s := plainScene(t)
			s.ranks, s.stderr = ranks, harness.FullPipe(t)
			s.begin(mustKind(t, "holds pipes"))
			s.signal(syscall.SIGTERM)
			s.requireEnd(143)
		})
	}
}

// The same for stdout, which the ranks' own lines fill.
func TestFullPipeOnStdout(t *testing.T) {
	s := plainScene(t)
	s.stdout = harness.FullPipe(t)
	s.begin(mustKind(t, "holds pipes"))
	s.everyRank("print")
	s.signal(syscall.SIGTERM)
	s.requireEnd(143)
}
