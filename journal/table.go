package journal

import (
	"math/bits"
	"sync/atomic"
	"unsafe"
)

// word64 is an aligned word of a mapping, for the single stores that publish.
func word64(data []byte, offset int) *atomic.Uint64 {
	return (*atomic.Uint64)(unsafe.Pointer(&data[offset : offset+8 : offset+8][0]))
}

func word32(data []byte, offset int) *atomic.Uint32 {
	return (*atomic.Uint32)(unsafe.Pointer(&data[offset : offset+4 : offset+4][0]))
}

// store64 writes an aligned word in one store, without the order that an atomic one gives
// for the price of a locked instruction: for what an atomic store comes after.
func store64(data []byte, offset int, value uint64) {
	*(*uint64)(unsafe.Pointer(&data[offset : offset+8 : offset+8][0])) = value
}

// freeSet is the set of free slots, one bit each, for any number of goroutines without
// a lock. A locked instruction costs as much as filling in the span's ids: one takes a
// slot, one gives it back.
type freeSet []atomic.Uint64

func newFreeSet(slots int) freeSet { return make(freeSet, (slots+63)/64) }

func (f freeSet) add(slot uint32) { f[slot/64].Or(1 << (slot % 64)) }

// take removes a slot from the set; goroutines that look in different places first are
// less in each other's way.
func (f freeSet) take(first uint64) (slot uint32, ok bool) {
	for i := range uint64(len(f)) {
		n := (first + i) % uint64(len(f))
		for set := f[n].Load(); set != 0; set = f[n].Load() {
			if f[n].CompareAndSwap(set, set&(set-1)) {
				return uint32(n)*64 + uint32(bits.TrailingZeros64(set)), true
			}
		}
	}
	return 0, false
}

// index finds the slot of a span by its id: a hash table with open addressing, without
// a lock. Whoever removes an entry owns the slot from then on. An entry is one word, a
// hash of the id above the number of the slot. There are four places for each slot, so
// an entry is next to where it belongs; far is the furthest that one ever was.
type index struct {
	entries []atomic.Uint64
	far     atomic.Uint32
}

// slotBits hold the number of any slot: MaxSlots is 1 << 12.
const slotBits = 12

func newIndex(slots int) *index {
	return &index{entries: make([]atomic.Uint64, 1<<bits.Len(uint(4*slots-1)))}
}

// hash spreads ids, which need not be random, one to one; an entry is never zero.
func hash(id uint64) (tag uint64) {
	const odd = 0x9e3779b97f4a7c15 // 2^64 divided by the golden ratio
	return id*odd&^(1<<slotBits-1) | 1<<63
}

func (x *index) place(tag uint64, distance int) *atomic.Uint64 {
	return &x.entries[(int(tag>>slotBits)+distance)&(len(x.entries)-1)]
}

// insert adds an entry for an id that has none.
func (x *index) insert(id uint64, slot uint32) {
	tag := hash(id)
	for d := range len(x.entries) {
		at := x.place(tag, d)
		if at.Load() != 0 || !at.CompareAndSwap(0, tag|uint64(slot)) {
			continue
		}
		for far := x.far.Load(); uint32(d) > far && !x.far.CompareAndSwap(far, uint32(d)); far = x.far.Load() {
		}
		return
	}
}

// remove takes an entry out; false if it is not there, or somebody else was faster.
func (x *index) remove(id uint64) (slot uint32, ok bool) {
	tag := hash(id)
	for d, far := 0, int(x.far.Load()); d <= far; d++ {
		at := x.place(tag, d)
		if entry := at.Load(); entry&^(1<<slotBits-1) == tag {
			return uint32(entry & (1<<slotBits - 1)), at.CompareAndSwap(entry, 0)
		}
	}
	return 0, false
}
