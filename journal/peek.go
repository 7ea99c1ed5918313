package journal

import (
	"reflect"
	"time"
	"unsafe"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

// layout tells where the SDK keeps three things that a span never changes, as offsets in
// the struct that it points to. The span's methods take its lock, each for itself, and
// these three locks are a quarter of what the journal costs. What can change, as the name
// does, is only ever asked for.
//
// It is found out with the first span, by names and types of the fields. A span of another
// type, of an SDK that has other fields, or of one whose methods say something else, is
// asked. No address that is read is ever followed, so that an SDK which should change one
// of the three some day could give a wrong time, and no worse.
type layout struct {
	of                  reflect.Type // what points to the struct
	kind, start, tracer uintptr
}

// layoutOf is the layout of a span's type; nil if it is unknown.
func layoutOf(s sdktrace.ReadOnlySpan) *layout {
	t := reflect.TypeOf(s)
	kind, hasKind := offset(t, "spanKind", func(t reflect.Type) bool { return t == reflect.TypeFor[trace.SpanKind]() })
	start, hasStart := offset(t, "startTime", func(t reflect.Type) bool { return t == reflect.TypeFor[time.Time]() })
	tracer, hasTracer := offset(t, "tracer", func(t reflect.Type) bool { return t.Kind() == reflect.Pointer })
	if !hasKind || !hasStart || !hasTracer {
		return nil
	}
	l := &layout{t, kind, start, tracer}
	if seen := l.peek(s); seen.kind != s.SpanKind() || seen.start != s.StartTime().UnixNano() {
		return nil
	}
	return l
}

// offset is that of a field in what a type points to, if it is a struct with such a field.
func offset(t reflect.Type, name string, such func(reflect.Type) bool) (at uintptr, ok bool) {
	if t.Kind() != reflect.Pointer || t.Elem().Kind() != reflect.Struct {
		return 0, false
	}
	f, ok := t.Elem().FieldByName(name)
	return f.Offset, ok && len(f.Index) == 1 && such(f.Type)
}

// fits reports whether a span can be read; no span can with a nil layout.
func (l *layout) fits(s sdktrace.ReadOnlySpan) bool { return l != nil && reflect.TypeOf(s) == l.of }

// peeked is what a span says without its lock.
type peeked struct {
	kind   trace.SpanKind
	start  int64          // nanoseconds since 1970
	tracer unsafe.Pointer // for comparisons
}

// peek reads a span that fits.
func (l *layout) peek(s sdktrace.ReadOnlySpan) peeked {
	at := reflect.ValueOf(s).UnsafePointer()
	return peeked{
		kind:   *(*trace.SpanKind)(unsafe.Add(at, l.kind)),
		start:  (*time.Time)(unsafe.Add(at, l.start)).UnixNano(),
		tracer: *(*unsafe.Pointer)(unsafe.Add(at, l.tracer)),
	}
}

// fixed is what a span never changes: its start, its kind, the number of its scope.
func (w *Writer) fixed(s sdktrace.ReadOnlySpan) (start uint64, kind uint8, scope int) {
	l := w.layout.Load()
	if !l.fits(s) {
		return uint64(s.StartTime().UnixNano()), uint8(s.SpanKind()), w.scopes.numberOf(w.data, s)
	}
	seen := l.peek(s)
	scope, ok := w.scopes.ofTracer(seen.tracer)
	if !ok {
		scope = w.scopes.numberOf(w.data, s)
		w.scopes.remember(seen.tracer, scope)
	}
	return uint64(seen.start), uint8(seen.kind), scope
}
