package port

import (
	"crypto/sha256"
	"encoding/binary"
)

// Derive chooses a port of r from a text that several hosts have in common, so that
// all arrive at the same without a message. Where the range allows it, room-1 ports
// follow it within the range. (Cluster specification, "Slurm: where am I?", Port.)
func Derive(r Range, seed string, room int) int {
	places := max(1, r.Size()-max(room, 1)+1)
	sum := sha256.Sum256([]byte(seed))
	return r.First + int(binary.BigEndian.Uint64(sum[:8])%uint64(places))
}

// Overlaps reports whether two ranges have a port in common.
func (r Range) Overlaps(other Range) bool { return len(r.and(other)) > 0 }
