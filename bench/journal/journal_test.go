// Package journal measures what the Python span journal adds to a span in the real
// OpenTelemetry SDK; the Go one is measured beside its code.
package journal

import (
	"encoding/json"
	"os"
	"os/exec"
	"strconv"
	"testing"

	"lenslaunch/journal"
)

// result is what added.py prints.
type result struct {
	Added, Without    float64 // microseconds, medians
	Best, BestWithout float64 // microseconds, of the fastest
	Python            string
}

// BenchmarkPython promises at most 2.5 added-us on a machine that does nothing else, where
// a span of the SDK without the journal takes 10 or less. On a busy machine best-us, the
// difference of the fastest of both, says more, and on a slow one added-part, which is the
// part that the journal adds to the time of the span itself.
func BenchmarkPython(b *testing.B) {
	python := os.Getenv("LENSLAUNCH_TEST_PYTHON")
	if python == "" {
		b.Skip("LENSLAUNCH_TEST_PYTHON is not set: run `make bench-journal`")
	}
	for name, args := range map[string][]string{"open": nil, "wrapped": {"wrapped"}} {
		b.Run(name, func(b *testing.B) {
			path, err := journal.Create(b.TempDir(), journal.RankName("attempt-0", 0), journal.Header{})
			if err != nil {
				b.Fatal(err)
			}
			args = append([]string{"added.py", "../../examples/python", strconv.Itoa(b.N)}, args...)
			cmd := exec.Command(python, args...)
			cmd.Env = append(os.Environ(), journal.Variable+"="+path)
			cmd.Stderr = os.Stderr
			text, err := cmd.Output()
			if err != nil {
				b.Fatal(err)
			}
			var r result
			if err := json.Unmarshal(text, &r); err != nil {
				b.Fatal(err)
			}
			j, err := journal.Read(path, journal.ReadOptions{})
			if err != nil || len(j.Spans) != 1 || j.Skipped != 0 || j.Torn != 0 {
				b.Fatalf("the journal was not at work: %v, %+v", err, j)
			}
			b.ReportMetric(0, "ns/op") // means nothing here
			b.ReportMetric(r.Added, "added-us")
			b.ReportMetric(r.Added/r.Without, "added-part")
			b.ReportMetric(r.Without, "without-us")
			b.ReportMetric(r.Best, "best-us")
			b.ReportMetric(r.BestWithout, "best-without-us")
			b.ReportMetric(float64(b.N), "pairs")
		})
	}
}
