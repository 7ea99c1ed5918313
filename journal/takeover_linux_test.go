package journal

import (
	"bytes"
	"context"
	"fmt"
	"testing"
)

// takeOver opens a journal of 8 slots that holds these bytes behind the checked part of
// its first page, writes spans, and reads it.
func takeOver(t *testing.T, content []byte) *Journal {
	t.Helper()
	b := make([]byte, size(8))
	h := Header{Slots: 8}
	copy(b[offCRC+4:], content)
	copy(b, h.encode())
	if c, claimed := decodeClaim(b); claimed {
		t.Skipf("claimed by %+v", c)
	}
	path := write(t, b)
	w := opened(t, path)
	t.Cleanup(func() { left(t, w) }) // after the shutdown of what tracerOf makes
	w.Wrap(nil)
	tracer := tracerOf(t, w)
	ctx, outer := tracer.Start(context.Background(), "outer")
	for i := range 20 {
		_, s := tracer.Start(ctx, fmt.Sprint("inner ", i))
		s.End()
	}
	j := mustRead(t, path)
	found := false
	for _, s := range j.Spans {
		found = found || s.SpanID == outer.SpanContext().SpanID() && s.Name == "outer" && s.Open()
	}
	if !found && j.Skipped == le.Uint64(b[offSkipped:]) {
		t.Errorf("the span is neither there nor counted as skipped: %+v", j)
	}
	return j
}

// A file that was damaged before, or written by a program before execve that had a
// defect: the writer starts and takes only slots that are free or hold what has ended.
func TestTakesOverAnyBytes(t *testing.T) {
	for _, fill := range []byte{0, 0xff, 1, 2, 3, 0xaa} {
		content := bytes.Repeat([]byte{fill}, size(8)-offCRC-4)
		j := takeOver(t, content)
		usable := fill&stateMask == stateFree || fill&stateMask == stateEnded
		if usable != (len(j.Spans) > 0) || !usable && j.Skipped == le.Uint64(content) {
			t.Errorf("%#x: %d spans, %d skipped", fill, len(j.Spans), j.Skipped)
		}
	}
}

func FuzzTakeOver(f *testing.F) {
	f.Add(image(f)[offCRC+4 : offClaim])
	f.Add(bytes.Repeat([]byte{0x81, 0, 0xfe}, size(8)/3))
	f.Fuzz(func(t *testing.T, content []byte) { takeOver(t, content) })
}
