package otelsetup

import (
	"context"

	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"lenslaunch/journal"
)

// journaled keeps the launcher's own open spans in a journal, with the launcher's own
// resource: the provider's has the workload's in it.
type journaled struct {
	*journal.Writer
	resource *resource.Resource
}

var _ sdktrace.SpanProcessor = journaled{}

func (j journaled) OnStart(ctx context.Context, span sdktrace.ReadWriteSpan) {
	j.Writer.OnStart(ctx, resourcedStart{ReadWriteSpan: span, resource: j.resource})
}

// resourcedStart is a span that has just started, with another resource.
type resourcedStart struct {
	sdktrace.ReadWriteSpan
	resource *resource.Resource
}

func (r resourcedStart) Resource() *resource.Resource { return r.resource }
