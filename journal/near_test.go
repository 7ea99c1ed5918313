package journal

import "testing"

// Any id has a line of its own entries and no others, each of which it gets once.
func TestNear(t *testing.T) {
	n := newNear(nearSlots)
	seen := map[uint32]bool{}
	for id := uint64(1); id < 1000; id++ {
		slot, ok := n.take(id)
		if !ok {
			if _, found := n.find(id); found {
				t.Fatalf("id %d is found and has no slot", id)
			}
			continue
		}
		found, ok := n.find(id)
		if seen[slot] || !ok || found != slot {
			t.Fatalf("id %d has slot %d (again: %v), found %d, %v", id, slot, seen[slot], found, ok)
		}
		seen[slot] = true
	}
	if len(seen) != nearSlots {
		t.Errorf("%d slots in use", len(seen))
	}
}

// Journals with few slots have none, and an id that looks like no span's is nobody's.
func TestNearIsNotForAll(t *testing.T) {
	if n := newNear(nearSlots - 1); n != nil {
		t.Errorf("%d slots", len(n))
	}
	for _, n := range []near{nil, newNear(nearSlots)} {
		if slot, ok := n.take(taken); ok {
			t.Errorf("slot %d", slot)
		}
		if slot, ok := n.find(taken); ok {
			t.Errorf("slot %d", slot)
		}
	}
}
