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

// freeList is a stack of free slots that any number of goroutines use without a lock.
// The head carries a counter, so that a slot that was popped and pushed meanwhile is
// told apart.
type freeList struct {
	head atomic.Uint64 // counter << 32 | slot + 1
	next []atomic.Uint32
}

func (l *freeList) push(slot uint32) {
	for {
		head := l.head.Load()
		l.next[slot].Store(uint32(head))
		if l.head.CompareAndSwap(head, (head>>32+1)<<32|uint64(slot+1)) {
			return
		}
	}
}

func (l *freeList) pop() (slot uint32, ok bool) {
	for {
		head := l.head.Load()
		if uint32(head) == 0 {
			return 0, false
		}
		slot = uint32(head) - 1
		if l.head.CompareAndSwap(head, (head>>32+1)<<32|uint64(l.next[slot].Load())) {
			return slot, true
		}
	}
}

// index finds the slot of a span by its id: a hash table with open addressing, without
// a lock. Whoever removes an entry owns the slot from then on. It has four places for
// each slot, so an entry is next to where it belongs; far is the furthest that one
// ever was.
type index struct {
	ids   []atomic.Uint64
	slots []atomic.Uint32
	far   atomic.Uint32
}

func newIndex(slots int) *index {
	n := 1 << bits.Len(uint(4*slots-1))
	return &index{ids: make([]atomic.Uint64, n), slots: make([]atomic.Uint32, n)}
}

// insert adds an entry; an id is not zero and there at most once.
func (x *index) insert(id uint64, slot uint32) {
	for d := 0; d < len(x.ids); d++ {
		i := int(id+uint64(d)) & (len(x.ids) - 1)
		if x.ids[i].Load() != 0 || !x.ids[i].CompareAndSwap(0, id) {
			continue
		}
		x.slots[i].Store(slot)
		for far := x.far.Load(); uint32(d) > far && !x.far.CompareAndSwap(far, uint32(d)); far = x.far.Load() {
		}
		return
	}
}

// remove takes an entry out; false if it is not there, or somebody else was faster.
func (x *index) remove(id uint64) (slot uint32, ok bool) {
	for d, far := 0, int(x.far.Load()); d <= far; d++ {
		i := int(id+uint64(d)) & (len(x.ids) - 1)
		if x.ids[i].Load() == id {
			slot = x.slots[i].Load()
			return slot, x.ids[i].CompareAndSwap(id, 0)
		}
	}
	return 0, false
}
