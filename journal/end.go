package journal

import (
	"cmp"
	"context"
	"encoding/binary"
	"slices"
	"sync/atomic"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

// OnEnd forgets a span, or with a wrapped exporter keeps it with its end until it is
// exported.
func (w *Writer) OnEnd(s sdktrace.ReadOnlySpan) {
	if w == nil {
		return
	}
	id := idOf(s.SpanContext())
	slot, isNear := w.near.find(id)
	if !isNear {
		var ok bool
		if slot, ok = w.index.remove(id); !ok { // if it is, the slot is this goroutine's
			return
		}
	}
	state := w.state(slot)
	word := state.Load()
	wrapped := w.wrapped.Load()
	if !wrapped && !w.left.Load() {
		store64(w.data, offsetOf(slot), word&^stateMask)
		w.release(slot)
		return
	}
	// The order counts: a kill in between leaves an open span that is whole.
	end := uint64(s.EndTime().UnixNano())
	at := w.data[offsetOf(slot):][:slotSize]
	store64(at, slotEnd, end)
	word32(at, slotMarks).Store(marks(otlpStatus(s.Status().Code), at[slotMarks+2], at[slotMarks+3], end))
	if wrapped && !isNear { // back in the index before the state allows others to have the slot
		w.index.insert(id, slot)
	}
	state.CompareAndSwap(word, word-stateOpen+stateEnded)
}

func idOf(sc trace.SpanContext) uint64 {
	id := sc.SpanID()
	return binary.BigEndian.Uint64(id[:])
}

// exported frees the slot of a span that has arrived.
func (w *Writer) exported(id uint64) {
	slot, ok := w.near.find(id)
	if !ok {
		if slot, ok = w.index.remove(id); !ok {
			return
		}
	}
	state := w.state(slot)
	word := state.Load()
	// The slot may have been given to another span meanwhile; if the ids agree now, the
	// generation in the word tells whether it is given away next.
	if word&stateMask != stateFree && w.owner(slot) == id && state.CompareAndSwap(word, word&^stateMask) {
		w.release(slot)
	}
}

// release lets others have a slot whose state is free.
func (w *Writer) release(slot uint32) {
	if int(slot) < len(w.near) {
		w.near[slot].Store(0)
	} else {
		w.free.add(slot)
	}
}

// reserve notes that a slot belongs to a span that near cannot find.
func (w *Writer) reserve(slot uint32) {
	if int(slot) < len(w.near) {
		w.near[slot].Store(taken)
	}
}

// take gives the caller a slot of its own, which is found by the id from then on: a free
// one, else that of the oldest ended span.
func (w *Writer) take(id uint64) (slot uint32, ok bool) {
	if slot, ok = w.near.take(id); ok {
		return slot, true
	}
	if slot, ok = w.free.take(id); !ok && (w.wrapped.Load() || w.left.Load()) {
		if slot, ok = w.takeEnded(); ok {
			w.reserve(slot)
		}
	}
	if ok {
		w.ids[slot].Store(id)
		w.index.insert(id, slot)
	}
	return slot, ok
}

// owner is the span that a slot was last taken for: near knows it, or else ids.
func (w *Writer) owner(slot uint32) uint64 {
	if int(slot) < len(w.near) {
		if id := w.near[slot].Load(); id != taken {
			return id
		}
	}
	return w.ids[slot].Load()
}

func (w *Writer) takeEnded() (slot uint32, ok bool) {
	const tries = 2 // the second time the list of the oldest is fresh
	for range tries {
		c := w.oldest.Load()
		if slot, ok = w.reuse(c); ok {
			return slot, true
		}
		fresh := w.collect()
		if len(fresh.list) == 0 {
			return 0, false
		}
		w.oldest.CompareAndSwap(c, fresh)
	}
	return 0, false
}

// candidates are ended spans, the oldest first. A list serves until it is used up: to
// look through all slots for each span would cost more than the span.
type candidates struct {
	list []candidate
	next atomic.Int64
}

type candidate struct {
	slot      uint32
	word, end uint64
}

func (w *Writer) collect() *candidates {
	c := &candidates{}
	for i := range w.slots {
		slot := uint32(i)
		if word := w.state(slot).Load(); word&stateMask == stateEnded {
			c.list = append(c.list, candidate{slot, word, word64(w.data, offsetOf(slot)+slotEnd).Load()})
		}
	}
	slices.SortFunc(c.list, func(a, b candidate) int { return cmp.Compare(a.end, b.end) })
	c.list = c.list[:min(len(c.list), max(1, w.slots/8))]
	return c
}

// reuse takes the first candidate that is still what it was.
func (w *Writer) reuse(c *candidates) (slot uint32, ok bool) {
	for c != nil && c.next.Load() < int64(len(c.list)) {
		i := c.next.Add(1) - 1
		if i >= int64(len(c.list)) {
			break
		}
		if one := c.list[i]; w.state(one.slot).CompareAndSwap(one.word, one.word&^stateMask) {
			if id := w.owner(one.slot); id != 0 {
				w.index.remove(id)
			}
			return one.slot, true
		}
	}
	return 0, false
}

// Wrap returns an exporter that tells the journal which spans have arrived: with it a
// span that has ended stays in the journal until then. Call it before the first span,
// and register the Writer before the processor that exports. On a nil Writer it
// returns the exporter itself.
func (w *Writer) Wrap(next sdktrace.SpanExporter) sdktrace.SpanExporter {
	if w == nil {
		return next
	}
	w.wrapped.Store(true)
	return &exporter{SpanExporter: next, w: w}
}

type exporter struct {
	sdktrace.SpanExporter
	w *Writer
}

func (e *exporter) ExportSpans(ctx context.Context, spans []sdktrace.ReadOnlySpan) error {
	err := e.SpanExporter.ExportSpans(ctx, spans)
	if err == nil {
		for _, s := range spans {
			e.w.exported(idOf(s.SpanContext()))
		}
	}
	return err
}
