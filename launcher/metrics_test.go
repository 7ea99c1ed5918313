package launcher

import (
	"fmt"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
)

// measured runs a fake run and says what its metrics are in the end.
func measured(t *testing.T, m *fakeMachine, r rules) []string {
	t.Helper()
	reader := sdkmetric.NewManualReader()
	m.listener = Metrics(sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader)).Meter("test"))
	m.run(t, r, nil)
	var data metricdata.ResourceMetrics
	if err := reader.Collect(t.Context(), &data); err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, scope := range data.ScopeMetrics {
		for _, metric := range scope.Metrics {
			if metric.Description == "" || metric.Unit == "" {
				t.Errorf("%s has no description or unit", metric.Name)
			}
			lines = append(lines, points(metric)...)
		}
	}
	slices.Sort(lines)
	return lines
}

func points(m metricdata.Metrics) (lines []string) {
	name := strings.TrimPrefix(m.Name, "lenslaunch.")
	switch data := m.Data.(type) {
	case metricdata.Sum[int64]:
		for _, p := range data.DataPoints {
			reason, _ := p.Attributes.Value(keyReason)
			lines = append(lines, strings.TrimSpace(fmt.Sprintf("%s %d %s", name, p.Value, reason.AsString())))
		}
	case metricdata.Histogram[float64]:
		for _, p := range data.DataPoints {
			lines = append(lines, fmt.Sprintf("%s %d in %vs", name, p.Count, p.Sum))
		}
	}
	return lines
}

func TestMetrics(t *testing.T) {
	m := &fakeMachine{attempts: [][]life{
		{fails(2*second, 3), {obeys: syscall.SIGTERM, after: 4 * second}},
		{succeeds(second), succeeds(2 * second)},
	}, sweeps: second}
	want := []string{
		"attempts 2", "restarts 1", "start.duration 2 in 0s", "teardown.duration 2 in 6s",
		"worker.exits 1 stopped", "worker.exits 3 exit", "workers.live 0",
	}
	if diff := cmp.Diff(want, measured(t, m, rules{policy: restarts(1)})); diff != "" {
		t.Errorf("metrics (-want +got):\n%s", diff)
	}
}

// A worker that nothing could end is still there.
func TestMetricsOfAStuckWorker(t *testing.T) {
	m := &fakeMachine{attempts: [][]life{{fails(second, 1), {immortal: true}}}}
	if got := measured(t, m, rules{}); !slices.Contains(got, "workers.live 1") || !slices.Contains(got, "worker.exits 1 exit") {
		t.Errorf("%q", got)
	}
}
