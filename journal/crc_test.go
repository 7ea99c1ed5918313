package journal

import (
	"hash/crc32"
	"math/rand/v2"
	"testing"
)

// The checksum is that of the standard library, whatever the bytes.
func TestBodyCRC(t *testing.T) {
	random := rand.NewChaCha8([32]byte{2})
	slot := make([]byte, slotSize)
	for i := range 1000 {
		_, _ = random.Read(slot[i%slotSize:])
		if got, want := bodyCRC(slot), crc32.ChecksumIEEE(slot[slotBody:slotEnd]); got != want {
			t.Fatalf("%x: %#x, want %#x", slot, got, want)
		}
	}
}
