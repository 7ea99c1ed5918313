//go:build interop

package interop

import (
	"encoding/json"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	"google.golang.org/protobuf/proto"

	"lenslaunch/journal"
)

// arrived is a collector that counts the spans that it got, by name.
type arrived struct {
	mu    sync.Mutex
	spans map[string]int
}

func (a *arrived) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path != "/v1/traces" {
		return // Lens's metrics
	}
	body, err := io.ReadAll(r.Body)
	var request collector.ExportTraceServiceRequest
	if err == nil {
		err = proto.Unmarshal(body, &request)
	}
	if err != nil { // a request that the kill cut off: it has not arrived
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, resource := range request.ResourceSpans {
		for _, scope := range resource.ScopeSpans {
			for _, span := range scope.Spans {
				a.spans[span.Name]++
			}
		}
	}
}

// startLens starts workers/lens_spans.py with that many spans and waits until it has
// made them. What it returns kills it.
func startLens(t *testing.T, path, endpoint string, spans int) (kill func(), train string) {
	t.Helper()
	cmd := exec.Command(os.Getenv(pythonVariable), "workers/lens_spans.py", strconv.Itoa(spans))
	cmd.Env = append(os.Environ(), journal.Variable+"="+path, "RANK=0", "WORLD_SIZE=1",
		"NEMO_LENS_ENABLED=1", "NEMO_LENS_EXPORTER=otlp", "NEMO_LENS_RUN_ID=killed", "NEMO_LENS_EXPORT_STRATEGY=all_ranks",
		"OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf", "OTEL_EXPORTER_OTLP_ENDPOINT="+endpoint, "OTEL_BSP_MAX_EXPORT_BATCH_SIZE=100")
	cmd.Stderr = os.Stderr
	stdout, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	kill = func() {
		if cmd.ProcessState == nil {
			_ = cmd.Process.Kill()
			_ = cmd.Wait() // killed: that is no news
		}
	}
	t.Cleanup(kill)
	var said struct{ Span string }
	if err := json.NewDecoder(stdout).Decode(&said); err != nil {
		t.Fatalf("the worker said nothing: %v", err)
	}
	return kill, said.Span
}

// NeMo Lens with its own set-up and its real batch exporter, killed at random moments,
// after more than a hundred times as many spans as the journal has slots: the open span is
// in the journal and nowhere else, each span that ended has arrived or is in the journal
// with its end, and next to none are both.
func TestPythonJournalBesideLensKilledAtRandomMoments(t *testing.T) {
	const kills, slots, spans = 4, 256, 101 * 256
	twice, waiting := 0, 0
	for range kills {
		path, err := journal.Create(t.TempDir(), journal.RankName("attempt-0", 0), journal.Header{Slots: slots})
		if err != nil {
			t.Fatal(err)
		}
		got := &arrived{spans: map[string]int{}}
		server := httptest.NewServer(got)
		kill, train := startLens(t, path, server.URL, spans)
		<-time.After(rand.N(300 * time.Millisecond))
		kill()
		server.Close() // waits for requests that are on their way
		j, err := journal.Read(path, journal.ReadOptions{Death: time.Now()})
		if err != nil || j.Torn != 0 || j.Skipped != 0 || len(j.Spans) == 0 || j.Spans[0].SpanID.String() != train {
			t.Fatalf("%v: %+v", err, j)
		}
		both := checkLens(t, j, got.spans, spans)
		twice += both
		waiting += len(j.Spans) - 1
	}
	t.Logf("%d kills found %d spans that waited for their export; %d had arrived", kills, waiting, twice)
	if waiting == 0 {
		t.Error("no kill met a span that waited: does this test test anything?")
	}
}

// checkLens says how many of the spans that ended are both in the journal and arrived.
func checkLens(t *testing.T, j *journal.Journal, arrived map[string]int, spans int) (both int) {
	t.Helper()
	seen, open, last := map[string]bool{}, 0, spans
	for name, n := range arrived {
		if seen[name] = true; n != 1 || name == "train" {
			t.Errorf("%s arrived %d times", name, n)
		}
	}
	for _, s := range j.Spans {
		if s.Open() {
			if open++; arrived[s.Name] != 0 {
				t.Errorf("%s has arrived and is open", s.Name)
			}
		} else if arrived[s.Name] != 0 {
			both++
		}
		seen[s.Name] = true
		if number, found := strings.CutPrefix(s.Name, "step "); found {
			n, err := strconv.Atoi(number)
			if err != nil || s.Parent != j.Spans[0].SpanID || s.Scope.Name != "nemo.lens" {
				t.Errorf("a span that never was: %+v", s)
			}
			last = max(last, n)
		}
	}
	if open < 1 || open > 2 || !j.Spans[0].Open() {
		t.Errorf("%d open spans: %+v", open, j.Spans)
	}
	for n := 1; n <= last; n++ {
		if !seen["step "+strconv.Itoa(n)] {
			t.Errorf("step %d of %d is lost", n, last)
		}
	}
	return both
}
