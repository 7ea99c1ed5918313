package otelsetup

import (
	"context"

	"go.opentelemetry.io/otel/propagation"
)

// Parent is a context with the span that TRACEPARENT and TRACESTATE name, as whoever
// started us has set them. No SDK reads them by itself. What is malformed is no parent.
func Parent(env map[string]string) context.Context {
	return propagation.TraceContext{}.Extract(context.Background(), propagation.MapCarrier{
		"traceparent": value(env, "TRACEPARENT"), "tracestate": value(env, "TRACESTATE"),
	})
}
