//go:build interop

package interop

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// attemptRecord is what workers/attempts.py writes.
type attemptRecord struct {
	Attempt, Rank int
	World         int
	Sum           float64
	Arrivals      int
	Port          string
	Carrier       string
}

// Rank 1 fails 20 times in a row and the 21st attempt succeeds. torchrun loses
// most such runs, because a new attempt meets the keys of the old one's store;
// here every attempt must see a store, a port and a carrier of its own.
func TestTwentyFailedAttemptsThenSuccess(t *testing.T) {
	const ranks, failures, runID = 3, 20, "twenty"
	outcome, results := job{
		ranks: ranks, runID: runID, script: "workers/attempts.py",
		flags: []string{"--max-restarts", strconv.Itoa(failures), "--restart-delay", "0s"},
		env:   []string{"LAST_ATTEMPT=" + strconv.Itoa(failures)},
		limit: 10 * time.Minute,
	}.run(t)
	outcome.RequireCode(t, 0)

	uuids, last := map[string]bool{}, ""
	for _, record := range byAttempt(records[attemptRecord](t, results, ranks*(failures+1))) {
		attempt := record.Attempt
		want := attemptRecord{
			Attempt: attempt, Rank: record.Rank, World: ranks, Sum: float64(ranks * attempt),
			Arrivals: ranks, Port: record.Port, Carrier: record.Carrier,
		}
		if diff := cmp.Diff(want, record); diff != "" {
			t.Errorf("attempt %d rank %d met another attempt:\n%s", attempt, record.Rank, diff)
		}
		id := parsed(record.Carrier)["nv.dl.run.uuid"]
		if want := derive("nemo.lens.run/local/" + runID + "/te" + strconv.Itoa(attempt)); id != want {
			t.Errorf("attempt %d rank %d carries UUID %s, want %s", attempt, record.Rank, id, want)
		}
		uuids[id] = true
		if record.Rank == 0 && record.Port == last {
			t.Errorf("attempt %d has the port of the one before it, %s", attempt, last)
		}
		last = record.Port
	}
	if len(uuids) != failures+1 {
		t.Errorf("%d attempts had %d UUIDs", failures+1, len(uuids))
	}
	if strings.Contains(outcome.Stderr, "Address already in use") {
		t.Errorf("a rank met a taken port:\n%s", outcome.Stderr)
	}
}

// byAttempt puts attempt 2 before attempt 10, as their file names do not.
func byAttempt(records []attemptRecord) []attemptRecord {
	slices.SortStableFunc(records, func(a, b attemptRecord) int { return a.Attempt - b.Attempt })
	return records
}
