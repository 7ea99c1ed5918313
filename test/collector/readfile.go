package collector

import (
	"bytes"
	"io"
	"net/http"
	"os"
	"testing"

	metricpb "go.opentelemetry.io/proto/otlp/metrics/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
)

// longestLine is what the otlpjsonfile receiver takes for one line, if it is not told
// otherwise (max_log_size): a longer one would be cut in two, and both parts be lost.
const longestLine = 1 << 20

// ReadFile has a Collector read a file of OTLP/JSON as its otlpjsonfile receiver would
// in a pipeline for traces and one for metrics: each gets every line, and takes of it
// what is its own.
func ReadFile(t testing.TB, path string) ([]*tracepb.ResourceSpans, []*metricpb.ResourceMetrics) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	c := Start(t, Options{})
	for line := range bytes.Lines(text) {
		if len(line) > longestLine {
			t.Errorf("a line of %d bytes; a Collector reads at most %d", len(line), longestLine)
		}
		c.post(t, "traces", line)
		c.post(t, "metrics", line)
	}
	return c.Traces(t), c.Metrics(t)
}

// post sends a line. Nothing else than a plain yes will do.
func (c *Collector) post(t testing.TB, signal string, line []byte) {
	t.Helper()
	response, err := http.Post(c.Endpoint(HTTP)+"/v1/"+signal, "application/json", bytes.NewReader(line))
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	said, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	if response.StatusCode != http.StatusOK || string(said) != `{"partialSuccess":{}}` {
		t.Errorf("the Collector says %s %s to %.300q", response.Status, said, line)
	}
}
