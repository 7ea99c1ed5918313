//go:build interop

package interop

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// glooRecord is what workers/gloo.py writes.
type glooRecord struct {
	Attempt, Rank int
	Torch         string
	World         int
	Total         float64
	Gradient      []float64
	Weights       []float64
	Threads       string
}

// torch.distributed must work from the environment alone: rendezvous,
// all_reduce, barrier and DistributedDataParallel over 4 ranks.
func TestGloo(t *testing.T) {
	const ranks = 4
	outcome, results := job{ranks: ranks, runID: "gloo", script: "workers/gloo.py"}.run(t)
	outcome.RequireCode(t, 0)

	got := records[glooRecord](t, results, ranks)
	t.Logf("torch %s, OMP_NUM_THREADS=%s", got[0].Torch, got[0].Threads)
	for rank, record := range got {
		want := glooRecord{
			Rank: rank, Torch: got[0].Torch, World: ranks, Total: 1 + 2 + 3 + 4,
			Gradient: []float64{1.5, 1.5, 1.5}, // the mean of 0, 1, 2, 3
			Weights:  got[0].Weights,
			Threads:  got[0].Threads,
		}
		if diff := cmp.Diff(want, record); diff != "" {
			t.Errorf("rank %d:\n%s", rank, diff)
		}
	}
}
