package logmux

import (
	"bytes"
	"testing"
)

// A read of 100-byte lines becomes a batch.
func BenchmarkLane(b *testing.B) {
	text := bytes.Repeat(append(bytes.Repeat([]byte("x"), 99), '\n'), readSize/100)
	l := testLane(policy{})
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		for chunk := text; len(chunk) > 0; l.clear() {
			chunk = l.take(start, chunk)
		}
	}
}
