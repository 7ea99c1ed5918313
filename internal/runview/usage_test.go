package runview

import (
	"errors"
	"slices"
	"testing"
	"time"
)

// scripted is a meter that sees what a test gives it.
func scripted(looks ...[]process) *meter {
	return &meter{read: func() ([]process, error) {
		if len(looks) == 0 {
			return nil, errors.New("no more looks")
		}
		list := looks[0]
		looks = looks[1:]
		return list, nil
	}}
}

func TestUsageOfATree(t *testing.T) {
	m := scripted([]process{
		{pid: 1, parent: 0, group: 1, start: 1, ticks: 1000, memory: 1 << 30},
		{pid: 10, parent: 1, group: 10, start: 50, state: 'S', ticks: 100, memory: 10},
		{pid: 11, parent: 10, group: 10, start: 51, ticks: 20, memory: 20},
		{pid: 12, parent: 11, group: 12, start: 52, ticks: 3, memory: 30}, // a session of its own
		{pid: 13, parent: 1, group: 10, start: 53, ticks: 4, memory: 40},  // its parent has ended
		{pid: 14, parent: 13, group: 14, start: 53, ticks: 5, memory: 50}, // the child of such a one
		{pid: 20, parent: 1, group: 20, start: 54, ticks: 500, memory: 500},
	})
	if err := m.look(began()); err != nil {
		t.Fatal(err)
	}
	u, ok := m.of(10, 50, 20*time.Second)
	slices.Sort(u.pids)
	if !ok || u.state != 'S' || u.memory != 150 || !slices.Equal(u.pids, []int{10, 11, 12, 13, 14}) {
		t.Errorf("%+v, %v", u, ok)
	}
	// At the first look: the average since it began, 1.32 s of 20.
	if u.cpu < 6.59 || u.cpu > 6.61 {
		t.Errorf("%v %%", u.cpu)
	}
}

func TestUsageBetweenLooks(t *testing.T) {
	m := scripted(
		[]process{{pid: 10, group: 10, start: 50, ticks: 100}, {pid: 11, parent: 10, group: 10, start: 51, ticks: 1000}, {pid: 12, parent: 10, group: 10, start: 52, ticks: 70}},
		[]process{
			{pid: 10, group: 10, start: 50, ticks: 150},
			{pid: 11, parent: 10, group: 10, start: 99, ticks: 30}, // another process with that pid
			{pid: 13, parent: 10, group: 10, start: 98, ticks: 20}, // a new one; 12 has ended
		},
	)
	for i := range 2 {
		if err := m.look(began().Add(time.Duration(i) * 2 * time.Second)); err != nil {
			t.Fatal(err)
		}
	}
	if u, ok := m.of(10, 50, time.Hour); !ok || u.cpu != 50 { // 50 + 30 + 20 ticks in 2 s
		t.Errorf("%+v, %v", u, ok)
	}
}

func TestUsageOfNobody(t *testing.T) {
	m := scripted([]process{{pid: 10, group: 10, start: 50}})
	if err := m.look(began()); err != nil {
		t.Fatal(err)
	}
	// A pid that went to another process is not the rank.
	for _, id := range []struct {
		pid   int
		start uint64
	}{{11, 0}, {10, 49}} {
		if u, ok := m.of(id.pid, id.start, time.Second); ok {
			t.Errorf("%+v", u)
		}
	}
	if _, ok := m.of(10, 0, 0); !ok {
		t.Error("a start that is not known is not wrong")
	}
	// After an error nothing is known of anybody.
	if err := m.look(began().Add(time.Second)); err == nil {
		t.Error("no error")
	}
	if _, ok := m.of(10, 50, time.Second); ok {
		t.Error("an old look")
	}
}

// A circle cannot be, but the looks at its members are not one look.
func TestUsageOfACircle(t *testing.T) {
	m := scripted([]process{{pid: 10, parent: 11, group: 10, memory: 1}, {pid: 11, parent: 10, group: 10, memory: 1}})
	if err := m.look(began()); err != nil {
		t.Fatal(err)
	}
	if u, ok := m.of(10, 0, time.Second); !ok || u.memory != 2 {
		t.Errorf("%+v, %v", u, ok)
	}
}
