package journal

import (
	"bytes"
	"context"
	"fmt"
	"hash/crc32"
	"os"
	"sync/atomic"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

// Writer records a program's spans in its journal: a span processor for the
// OpenTelemetry SDK. It never blocks and never fails the program; it has no locks. A
// nil Writer does nothing, so that a program without a journal needs no second way.
type Writer struct {
	data  []byte // the mapping
	slots int

	near  near    // the first slots
	free  freeSet // of the others
	index *index  // of the spans that near does not find

	scopes   scopeTable
	resource atomic.Bool            // written, or being written
	layout   atomic.Pointer[layout] // of the first span's type

	wrapped atomic.Bool     // an exporter tells which spans have arrived
	left    atomic.Bool     // after Shutdown
	ids     []atomic.Uint64 // the span that a slot was last taken for, if near did not take it
	oldest  atomic.Pointer[candidates]

	step, epoch atomic.Int64
}

var _ sdktrace.SpanProcessor = (*Writer)(nil)

// FromEnv opens the journal that the launcher gave this process in [Variable]. It
// returns nil, which does nothing, if there is none or it cannot be used.
func FromEnv() *Writer {
	w, err := Open(os.Getenv(Variable))
	if err != nil {
		return nil
	}
	return w
}

// Open claims a journal for this process, as its one writer for good: the error is
// ErrClaimed if another process, living or dead, or another Writer of this one was
// first. A program that execve put in the place of the writer continues the journal,
// and the spans that were open stay.
func Open(path string) (*Writer, error) {
	data, err := openMapping(path)
	if err != nil {
		return nil, fmt.Errorf("cannot use journal %s: %w", path, err)
	}
	return newWriter(data), nil
}

func newWriter(data []byte) *Writer {
	n := (len(data) - offSlot) / slotSize
	w := &Writer{data: data, slots: n, near: newNear(n), free: newFreeSet(n), index: newIndex(n), ids: make([]atomic.Uint64, n)}
	w.scopes.load(data)
	for slot := range uint32(n) {
		if w.state(slot).Load()&stateMask == stateFree {
			w.release(slot)
		} else {
			w.reserve(slot)
		}
	}
	return w
}

func offsetOf(slot uint32) int { return offSlot + int(slot)*slotSize }

func (w *Writer) state(slot uint32) *atomic.Uint64 { return word64(w.data, offsetOf(slot)) }

// SetProgress tells where the application is; spans that start from now on carry it.
func (w *Writer) SetProgress(step, epoch int64) {
	if w != nil {
		w.step.Store(step)
		w.epoch.Store(epoch)
	}
}

// OnStart records a span that is sampled. If all slots hold open spans it is counted
// and skipped: the outer, older ones matter more.
func (w *Writer) OnStart(parent context.Context, s sdktrace.ReadWriteSpan) {
	if w == nil {
		return
	}
	sc := s.SpanContext()
	if !sc.IsSampled() {
		return
	}
	// The span knows its parent, too, but takes a lock to say so. A root that was asked
	// for in a context with another span has another trace id.
	p := trace.SpanContextFromContext(parent)
	if p.TraceID() != sc.TraceID() {
		p = trace.SpanContext{}
	}
	w.start(s, sc, p)
}

func (w *Writer) start(s sdktrace.ReadOnlySpan, sc, parent trace.SpanContext) {
	id := idOf(sc)
	slot, ok := w.take(id)
	if !ok {
		word64(w.data, offSkipped).Add(1)
		return
	}
	if !w.resource.Load() && w.resource.CompareAndSwap(false, true) {
		w.writeResource(s)
		w.layout.Store(layoutOf(s))
	}
	start, kind, scope := w.fixed(s)
	name := s.Name()
	flags := uint8(sc.TraceFlags()) & flagsOfTrace
	if parent.IsRemote() {
		flags |= flagParentRemote
	}
	if len(name) > maxName {
		flags |= flagNameCut
	}

	at := w.data[offsetOf(slot):][:slotSize]
	traceID, spanID, parentID := sc.TraceID(), sc.SpanID(), parent.SpanID()
	fillIDs(at, &traceID, &spanID, &parentID)
	fillName(at, cut(name, maxName))
	fillNumbers(at, start, 0, scope, w.step.Load(), w.epoch.Load())
	w.publish(slot, marks(0, kind, flags, 0))
	w.active(start)
}

// publish lets a slot that this goroutine has filled be seen: the state word last, so
// that a kill at any moment leaves either no span or a whole one.
func (w *Writer) publish(slot uint32, marks uint32) {
	at := w.data[offsetOf(slot):][:slotSize]
	le.PutUint32(at[slotCRC:], bodyCRC(at))
	le.PutUint32(at[slotMarks:], marks)
	state := w.state(slot)
	state.Store(state.Load()&^stateMask + 1<<2 + stateOpen)
}

// active notes the time of a start, if it is a millisecond later than the last one
// noted: the store is worth more than the precision.
func (w *Writer) active(at uint64) {
	const precision = 1e6
	if last := word64(w.data, offActivity); at > last.Load()+precision {
		last.Store(at)
	}
}

// writeResource writes the resource before its length, and nothing if it is there
// already or there is no room.
func (w *Writer) writeResource(s sdktrace.ReadOnlySpan) {
	r := s.Resource()
	text := encodeResource(r.Attributes(), r.SchemaURL())
	word, value := word64(w.data, offResource), uint64(crc32.ChecksumIEEE(text))<<32|uint64(len(text))
	room := w.data[offResource+8:][:len(text)]
	if word.Load() == value && bytes.Equal(room, text) {
		return
	}
	word.Store(0)
	copy(room, text)
	word.Store(value)
}

// Shutdown marks the journal as left in order. What is open then stays: nobody else
// will tell of it. A span that ends later stays too, since nobody exports it.
func (w *Writer) Shutdown(context.Context) error {
	if w != nil {
		w.left.Store(true)
		word64(w.data, offClean).Store(1)
	}
	return nil
}

// ForceFlush does nothing: what is written is in the kernel's hands.
func (w *Writer) ForceFlush(context.Context) error { return nil }
