package launcher

import (
	"context"
	"errors"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/otel/attribute"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"lenslaunch/internal/proc"
	"lenslaunch/semconv"
)

// hearsay is everything that comes out of runs, by name: attributes of spans and events.
type hearsay struct{ spans, events, metrics map[string]map[string]bool }

func newHearsay() hearsay {
	return hearsay{spans: map[string]map[string]bool{}, events: map[string]map[string]bool{}, metrics: map[string]map[string]bool{}}
}

func noteDown(in map[string]map[string]bool, name string, attrs []attribute.KeyValue) {
	if in[name] == nil {
		in[name] = map[string]bool{}
	}
	for _, kv := range attrs {
		in[name][string(kv.Key)] = true
	}
}

// hear carries out a run and notes what is told of it.
func (o hearsay) hear(t *testing.T, m *fakeMachine, r rules, signals map[time.Duration]syscall.Signal) {
	t.Helper()
	d := newTelemetered()
	reader := sdkmetric.NewManualReader()
	measure := Metrics(sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader)).Meter("test"))
	spans := d.subscriber(newDraft(t, len(m.attempts[0])).plan(t))
	m.listener = func(e Event) { measure(e); spans(e) }
	m.run(t, r, signals)
	d.shutdown(t)
	o.take(d)
	var data metricdata.ResourceMetrics
	if err := reader.Collect(t.Context(), &data); err != nil {
		t.Fatal(err)
	}
	for _, scope := range data.ScopeMetrics {
		for _, metric := range scope.Metrics {
			noteDown(o.metrics, metric.Name, nil)
		}
	}
}

func (o hearsay) take(d *telemetered) {
	for _, s := range d.recorder.Ended() {
		attrs := slices.DeleteFunc(slices.Clone(s.Attributes()), func(kv attribute.KeyValue) bool {
			return kv.Key == semconv.NemoSpanTruncated // any span may have it
		})
		noteDown(o.spans, s.Name(), attrs)
		for _, e := range s.Events() {
			noteDown(o.events, e.Name, e.Attributes)
		}
	}
}

// everything is what all kinds of runs tell.
func everything(t *testing.T) hearsay {
	o := newHearsay()
	o.hear(t, &fakeMachine{attempts: [][]life{{fails(second, 3), works()}, {succeeds(second), succeeds(second)}}}, rules{policy: restarts(1)}, nil)
	o.hear(t, &fakeMachine{attempts: [][]life{{works(), stubborn()}}}, rules{}, map[time.Duration]syscall.Signal{second: syscall.SIGTERM})
	d := newTelemetered()
	tell := d.subscriber(newDraft(t, 1).plan(t))
	killed := Fault{Pid: 7, At: midnight(), Exit: proc.Exit{Signal: syscall.SIGKILL}}
	never := Fault{At: midnight(), Cause: errors.New("no such file"), Exit: code(127)}
	for _, f := range []Fault{killed, never} {
		tell(AttemptBegan{At: midnight()})
		tell(FaultFound{Fault: f, First: true})
		tell(AttemptEnded{At: midnight(), Outcome: OutcomeFailed, Faults: []Fault{f}})
	}
	tell(RunEnded{At: midnight(), Outcome: OutcomeFailed})
	if err := d.provider.Shutdown(context.Background()); err != nil {
		t.Fatal(err)
	}
	o.take(d)
	return o
}

var quoted = regexp.MustCompile("`([^`]+)`")

// table reads the table of a document whose head begins so: by the names of the first
// column, the names in the column with that number.
func docTable(t *testing.T, text, head string, column int) map[string]map[string]bool {
	t.Helper()
	_, rest, ok := strings.Cut(text, "\n"+head)
	if !ok {
		t.Fatalf("no table %q", head)
	}
	rows := map[string]map[string]bool{}
	for _, line := range strings.Split(rest, "\n")[2:] {
		if !strings.HasPrefix(line, "|") {
			break
		}
		cells := strings.Split(line, "|")
		for _, name := range quoted.FindAllStringSubmatch(cells[1], -1) {
			rows[name[1]] = map[string]bool{}
			for _, other := range quoted.FindAllStringSubmatch(cells[column], -1) {
				rows[name[1]][other[1]] = true
			}
		}
	}
	return rows
}

// docs/TELEMETRY.md has every span, attribute, event and metric that comes out, and none
// that does not.
func TestTelemetryDocument(t *testing.T) {
	text, err := os.ReadFile("../docs/TELEMETRY.md")
	if err != nil {
		t.Fatal(err)
	}
	doc, got := string(text), everything(t)
	if diff := cmp.Diff(docTable(t, doc, "| span | covers |", 3), got.spans); diff != "" {
		t.Errorf("spans (-document +code):\n%s", diff)
	}
	if diff := cmp.Diff(docTable(t, doc, "| event | on |", 3), got.events); diff != "" {
		t.Errorf("events (-document +code):\n%s", diff)
	}
	names := func(m map[string]map[string]bool) []string { return slices.Sorted(maps.Keys(m)) }
	if diff := cmp.Diff(names(docTable(t, doc, "| metric | kind", 1)), names(got.metrics)); diff != "" {
		t.Errorf("metrics (-document +code):\n%s", diff)
	}
	described := docTable(t, doc, "| attribute | values |", 1)
	for _, group := range []map[string]map[string]bool{got.spans, got.events} {
		for _, attrs := range group {
			for name := range attrs {
				if described[name] == nil {
					t.Errorf("the attribute %s is not described", name)
				}
			}
		}
	}
}
