package runview

import "time"

// process is what a table needs to know of a process.
type process struct {
	pid, parent, group int
	start              uint64 // ticks since boot
	state              byte   // R, S, D, T, Z, ...
	ticks              uint64 // CPU time, in ticks
	memory             int64  // resident, in bytes
}

// tick is the unit of times in /proc, on every system that Go knows.
const tick = 10 * time.Millisecond

// usage is what a rank's tree uses.
type usage struct {
	state  byte // of the leader
	pids   []int
	cpu    float64 // of one CPU, in percent; negative: not known
	memory int64   // in bytes; what processes share is counted for each
}

// meter measures trees of processes from one look to the next.
type meter struct {
	read func() ([]process, error)

	at     time.Time       // of the latest look, zero: none yet
	step   time.Duration   // from the one before
	now    map[int]process // by pid
	then   map[int]process // at the look before, nil: there was none
	kids   map[int][]int   // pids by parent
	groups map[int][]int   // pids by group
}

// look takes a new sample of all processes. After an error there are none.
func (m *meter) look(at time.Time) error {
	all, err := m.read()
	if m.step = at.Sub(m.at); !m.at.IsZero() {
		m.then = m.now
	}
	m.at, m.now, m.kids, m.groups = at, map[int]process{}, map[int][]int{}, map[int][]int{}
	for _, p := range all {
		m.now[p.pid] = p
		m.kids[p.parent] = append(m.kids[p.parent], p.pid)
		m.groups[p.group] = append(m.groups[p.group], p.pid)
	}
	return err
}

// of is the usage of the tree of a leader, which is known by pid and start (0: not
// known). age is how long it has run. ok is false if there is no such process.
func (m *meter) of(pid int, start uint64, age time.Duration) (u usage, ok bool) {
	leader, ok := m.now[pid]
	if !ok || start != 0 && leader.start != start {
		return u, false
	}
	u.state, u.pids, u.cpu = leader.state, m.tree(pid), -1
	var ticks, old uint64
	for _, pid := range u.pids {
		p := m.now[pid]
		ticks, u.memory = ticks+p.ticks, u.memory+p.memory
		if then, same := m.then[pid]; same && then.start == p.start {
			old += min(then.ticks, p.ticks)
		}
	}
	switch {
	case m.then == nil && age > 0: // the first look: since it started
		u.cpu = 100 * float64(ticks) * float64(tick) / float64(age)
	case m.then != nil && m.step > 0:
		u.cpu = 100 * float64(ticks-old) * float64(tick) / float64(m.step)
	}
	return u, true
}

// tree lists a leader, its group and all descendants. It leads a group of its own, so
// that the group finds those that have lost their parents.
func (m *meter) tree(leader int) []int {
	pids := append([]int{leader}, m.groups[leader]...)
	seen := map[int]bool{}
	var tree []int
	for ; len(pids) > 0; pids = pids[1:] {
		if pid := pids[0]; !seen[pid] {
			seen[pid] = true
			tree = append(tree, pid)
			pids = append(pids, m.kids[pid]...)
		}
	}
	return tree
}
