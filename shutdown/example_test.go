package shutdown_test

import (
	"context"
	"fmt"
	"time"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"lenslaunch/shutdown"
)

// printer is an exporter for the example.
type printer struct{}

func (printer) ExportSpans(_ context.Context, spans []sdktrace.ReadOnlySpan) error {
	for _, span := range spans {
		fmt.Println(span.Name(), span.Attributes()[0].Key, span.Events()[0].Attributes[0].Value.AsString())
	}
	return nil
}

func (printer) Shutdown(context.Context) error { return nil }

func ExampleOpenSpans() {
	open := shutdown.New()
	provider := sdktrace.NewTracerProvider(
		sdktrace.WithSpanProcessor(open),
		sdktrace.WithBatcher(printer{}, sdktrace.WithBlocking()))
	tracer := provider.Tracer("example")

	ctx, _ := tracer.Start(context.Background(), "epoch")
	_, step := tracer.Start(ctx, "step", trace.WithSpanKind(trace.SpanKindInternal))
	_ = step // still at work when the program is told to stop

	open.SetReason("stopped by SIGTERM")
	fresh, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	if err := provider.Shutdown(fresh); err != nil {
		fmt.Println(err)
	}
	// Output:
	// step nemo.span.truncated stopped by SIGTERM
	// epoch nemo.span.truncated stopped by SIGTERM
}
