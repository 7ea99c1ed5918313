//go:build interop

package interop

import (
	"strconv"
	"testing"
)

// lensRecord is what workers/lens.py writes.
type lensRecord struct {
	Attempt, Rank int
	Lens          string
	Attributes    map[string]string
	Derived       string // Lens's own attempt UUID, "" where Lens has no function for it
}

// Lens inside a worker must put our identity on its spans, attempt by attempt.
func TestLensReportsOurIdentity(t *testing.T) {
	const ranks, runID, first = 2, "lens-run", 3
	outcome, results := job{
		ranks: ranks, runID: runID, script: "workers/lens.py",
		// The rank that does not fail has the time to leave its result.
		flags: []string{"--max-restarts", "1", "--restart-delay", "0s", "--failure-grace", "1m"},
		env: []string{
			"NEMO_LENS_ENABLED=1", "NEMO_LENS_EXPORT_STRATEGY=all_ranks",
			// An outer loop that counts restarts makes them a carried fact.
			"LENSLAUNCH_RESTART_COUNT=" + strconv.Itoa(first),
			"FIRST_ATTEMPT=" + strconv.Itoa(first),
		},
	}.run(t)
	outcome.RequireCode(t, 0)

	for i, record := range records[lensRecord](t, results, 2*ranks) {
		attempt, rank := strconv.Itoa(first+i/ranks), strconv.Itoa(i%ranks)
		want := map[string]string{
			"nv.dl.run.uuid":      derive("nemo.lens.run/local/" + runID + "/te" + attempt),
			"nv.dl.job.uuid":      derive("nemo.lens.job/local/" + runID),
			"nemo.run.id":         runID,
			"slurm.restart_count": attempt,
			"service.instance.id": runID + "-rank" + rank,
			"nv.dl.rank":          rank,
			"nv.dl.world_size":    strconv.Itoa(ranks),
		}
		for key, value := range want {
			if got := record.Attributes[key]; got != value {
				t.Errorf("attempt %s rank %s: Lens reports %s %q, want %q", attempt, rank, key, got, value)
			}
		}
		if record.Derived != "" && record.Derived != want["nv.dl.run.uuid"] {
			t.Errorf("attempt %s rank %s: Lens derives %s", attempt, rank, record.Derived)
		}
		if i == 0 {
			t.Logf("Lens %s; it derives attempt UUIDs itself: %v", record.Lens, record.Derived != "")
		}
	}
}
