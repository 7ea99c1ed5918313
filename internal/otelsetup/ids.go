package otelsetup

import (
	"context"
	"encoding/binary"
	"math/rand/v2"
	"sync/atomic"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

// idKey is the key of a span id in a context.
type idKey struct{}

// WithSpanID makes the next span that starts in this context get the id. A worker is
// told the id of its span before anybody can know that it has started.
func WithSpanID(ctx context.Context, id trace.SpanID) context.Context {
	return context.WithValue(ctx, idKey{}, &givenID{id: id})
}

// givenID is used up by one span: contexts that come of its own have it too.
type givenID struct {
	id   trace.SpanID
	used atomic.Bool
}

// ids makes random ids, but for spans whose id is decided already.
type ids struct{}

var _ sdktrace.IDGenerator = ids{}

func (ids) NewSpanID(ctx context.Context, _ trace.TraceID) trace.SpanID {
	if given, ok := ctx.Value(idKey{}).(*givenID); ok && given.id.IsValid() && given.used.CompareAndSwap(false, true) {
		return given.id
	}
	return newSpanID()
}

func (i ids) NewIDs(ctx context.Context) (trace.TraceID, trace.SpanID) {
	var id trace.TraceID
	binary.LittleEndian.PutUint64(id[:8], rand.Uint64()|1) // zero is no id
	binary.LittleEndian.PutUint64(id[8:], rand.Uint64())
	return id, i.NewSpanID(ctx, id)
}

func newSpanID() (id trace.SpanID) {
	binary.LittleEndian.PutUint64(id[:], rand.Uint64()|1)
	return id
}
