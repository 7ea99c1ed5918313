package journal

import "sync/atomic"

// nearSlots are the first slots of a journal, which are given out first: so few that a
// program with few spans open at a time has them in its cache.
const nearSlots = 64

// nearLine is how many of them a span can have: their entries are one line of the cache.
const nearLine = 8

// near tells for each of the first slots which span it belongs to, 0 for a free one: set
// and index in one, since a span looks in one line only. That saves two locked
// instructions in the life of a span, each as expensive as filling in its ids. What
// finds no place there is kept by freeSet and index. Nil in a journal with few slots.
type near []atomic.Uint64

// taken stands for a span that is found in the index, or nowhere.
const taken = 1<<64 - 1

func newNear(slots int) near {
	if slots < nearSlots {
		return nil
	}
	return make(near, nearSlots)
}

// line is the number of the first entry of a span's line.
func (n near) line(id uint64) uint32 {
	return uint32(hash(id)>>slotBits) % (nearSlots / nearLine) * nearLine
}

// take gives the caller a slot of its own.
func (n near) take(id uint64) (slot uint32, ok bool) {
	if n == nil || id == taken {
		return 0, false
	}
	line := n.line(id)
	for i := range n[line : line+nearLine] {
		slot = line + uint32(i)
		if n[slot].Load() == 0 && n[slot].CompareAndSwap(0, id) {
			return slot, true
		}
	}
	return 0, false
}

// find tells the slot of a span.
func (n near) find(id uint64) (slot uint32, ok bool) {
	if n == nil || id == taken {
		return 0, false
	}
	line := n.line(id)
	for i := range n[line : line+nearLine] {
		if n[line+uint32(i)].Load() == id {
			return line + uint32(i), true
		}
	}
	return 0, false
}
