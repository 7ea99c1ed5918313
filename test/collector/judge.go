package collector

import (
	"testing"
	"time"

	colmetricpb "go.opentelemetry.io/proto/otlp/collector/metrics/v1"
	coltracepb "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	metricpb "go.opentelemetry.io/proto/otlp/metrics/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// Traces stops the Collector, if it runs, and returns all that it wrote.
func (c *Collector) Traces(t testing.TB) (list []*tracepb.ResourceSpans) {
	t.Helper()
	for _, message := range c.written(t, c.traces) {
		list = append(list, decodeTraces(t, message)...)
	}
	return list
}

// Metrics stops the Collector, if it runs, and returns all that it wrote.
func (c *Collector) Metrics(t testing.TB) (list []*metricpb.ResourceMetrics) {
	t.Helper()
	for _, message := range c.written(t, c.metrics) {
		var request colmetricpb.ExportMetricsServiceRequest
		if err := proto.Unmarshal(message, &request); err != nil {
			t.Fatalf("the Collector wrote what is no message: %v", err)
		}
		list = append(list, request.GetResourceMetrics()...)
	}
	return list
}

// Await returns when what the Collector has written up to now is enough.
func (c *Collector) Await(t testing.TB, enough func(spans []*tracepb.Span) bool) {
	t.Helper()
	late := time.After(patience)
	for {
		list, _, more := c.traces.messages()
		var spans []*tracepb.Span
		for _, message := range list {
			spans = append(spans, Spans(decodeTraces(t, message))...)
		}
		if enough(spans) {
			return
		}
		select {
		case <-more:
		case <-c.traces.ended:
			t.Fatalf("the Collector has ended; it wrote %d spans:\n%s", len(spans), c.log.text())
		case <-late:
			t.Fatalf("not enough after %v: the Collector wrote %d spans", patience, len(spans))
		}
	}
}

// Spans are those of all resources.
func Spans(list []*tracepb.ResourceSpans) (spans []*tracepb.Span) {
	for _, resource := range list {
		for _, scope := range resource.GetScopeSpans() {
			spans = append(spans, scope.GetSpans()...)
		}
	}
	return spans
}

func (c *Collector) written(t testing.TB, p *pipe) [][]byte {
	t.Helper()
	if c.options.Full {
		t.Fatal("a Collector whose disk is full has written nothing")
	}
	killed := c.told
	c.Stop(t)
	<-p.ended
	list, rest, _ := p.messages()
	if rest != 0 && !killed {
		t.Fatalf("the last message lacks its end; %d bytes of it are there", rest)
	}
	return list
}

func decodeTraces(t testing.TB, message []byte) []*tracepb.ResourceSpans {
	t.Helper()
	var request coltracepb.ExportTraceServiceRequest
	if err := proto.Unmarshal(message, &request); err != nil {
		t.Fatalf("the Collector wrote what is no message: %v", err)
	}
	return request.GetResourceSpans()
}
