package journal

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

// made is a journal of so many slots in a directory of the test's own.
func made(t testing.TB, slots int) string {
	t.Helper()
	path, err := Create(t.TempDir(), RankName("attempt-0", 0), Header{RunID: "run", Attempt: 2, Rank: 3, Slots: slots, Created: time.Unix(7, 9)})
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func opened(t testing.TB, path string) *Writer {
	t.Helper()
	w, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// tracerOf is an SDK with these processors.
func tracerOf(t testing.TB, processors ...sdktrace.SpanProcessor) trace.Tracer {
	t.Helper()
	options := []sdktrace.TracerProviderOption{
		sdktrace.WithResource(resource.NewSchemaless(attribute.String("service.name", "test"), attribute.Int("nv.dl.rank", 3))),
	}
	for _, p := range processors {
		options = append(options, sdktrace.WithSpanProcessor(p))
	}
	provider := sdktrace.NewTracerProvider(options...)
	t.Cleanup(func() { _ = provider.Shutdown(context.Background()) })
	return provider.Tracer("scope", trace.WithInstrumentationVersion("1.2"))
}

func mustRead(t testing.TB, path string) *Journal {
	t.Helper()
	j, err := Read(path, ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return j
}

func namesOf(spans []Span) []string {
	names := []string{}
	for _, s := range spans {
		names = append(names, s.Name)
	}
	return names
}

// image is the bytes of a journal of 4 slots with an ended and two open spans.
func image(t testing.TB) []byte {
	t.Helper()
	path := made(t, 4)
	w := opened(t, path)
	w.Wrap(nil)
	tracer := tracerOf(t, w)
	ctx, _ := tracer.Start(context.Background(), "outer")
	_, done := tracer.Start(ctx, "done", trace.WithSpanKind(trace.SpanKindClient))
	done.End()
	tracer.Start(ctx, "inner ä")
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func write(t testing.TB, b []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "x.spans")
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// once reads no slot a second time: the bytes are all there is.
func once([]byte, int) bool { return false }
