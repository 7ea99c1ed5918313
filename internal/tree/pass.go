package tree

import (
	"errors"

	"lenslaunch/internal/proc"
)

// A pass is one look at all processes.
type pass struct {
	*search
	meet     func(proc.Stat)
	ours     map[int]proc.Stat // by pid, found alive in this pass
	bonds    bonds
	others   []proc.Stat // what was seen and not known to be ours then
	vanished int         // how many ended before it was known whose they were
}

// pass calls meet for each process of the attempt as soon as it is certain that it
// is one; also for one that has ended by then, which may have left children. Without
// deep it looks at descendants only, which takes a small part of the time.
//
// vanished is how many processes ended before they could be looked at, ours or not.
// The error says that something could not be looked at.
func (s *search) pass(deep bool, meet func(proc.Stat)) (vanished int, err error) {
	p := &pass{search: s, meet: meet, ours: map[int]proc.Stat{}, bonds: newBonds(s)}
	err = p.below()
	if !deep {
		return 0, err
	}
	gone, scan := proc.Scan(p.scanned)
	p.bound()
	return gone + p.vanished, errors.Join(err, scan)
}

// below finds the descendants of the launcher and of the leaders. A process that is
// stopped when it is met has no more children when the walk comes to them.
func (p *pass) below() error {
	visit := func(st proc.Stat) bool {
		if p.barred(st) {
			return false
		}
		p.add(st)
		return true
	}
	var failed error
	if p.rank == whole && p.f.Root.Pid > 0 && !p.f.shared() {
		failed = p.walk(p.f.Root, visit)
	}
	for _, id := range p.leaders {
		st, err := proc.ReadStat(id.Pid)
		if err != nil || st.ID != id {
			continue // reaped
		}
		known := p.ours[id.Pid].ID == id
		if visit(st) && !known && !st.Dead() {
			failed = errors.Join(failed, p.walk(id, visit))
		}
	}
	return failed
}

func (p *pass) walk(root proc.ID, visit func(proc.Stat) bool) error {
	if err := proc.Walk(root, visit); !proc.Gone(err) {
		return err
	}
	return nil
}

// scanned looks for the mark as soon as a process is seen: it may end soon.
func (p *pass) scanned(st proc.Stat) {
	switch {
	case p.candidate(st) && p.carries(st) && !p.under(st):
		if !st.ID.Alive() {
			st.State = 'X' // or the mark was of the next process with that pid
		}
		p.add(st)
	case p.f.shared() && st.Dead() && st.Parent == p.f.Root.Pid:
		p.meet(st) // nobody's for certain, ours perhaps
	default:
		p.others = append(p.others, st)
	}
}

// bound finds what is bound to what was found: by descent, group or session; and
// what is bound to that, until nothing is new.
func (p *pass) bound() {
	for again := true; again; {
		again = false
		for _, st := range p.others {
			if p.candidate(st) && p.bonds.hold(st, p.ours) && !p.under(st) {
				p.add(st)
				again = true
			}
		}
	}
}

// add takes a process for the attempt's.
func (p *pass) add(st proc.Stat) {
	p.bonds.add(st)
	if _, known := p.ours[st.Pid]; known {
		return
	}
	if !st.Dead() {
		p.ours[st.Pid] = st
	}
	p.meet(st)
}

// candidate reports whether a process could still turn out to be the attempt's.
func (p *pass) candidate(st proc.Stat) bool {
	_, known := p.ours[st.Pid]
	return !known && !st.Dead() && !p.barred(st)
}

// barred reports whether this process is certainly none of the attempt's.
func (s *search) barred(st proc.Stat) bool {
	return st.Pid == s.self || st.Pid == 1 || st.ID == s.f.Root || s.never[st.ID] ||
		// Nothing of the attempt is older than its launcher. This alone rules out nearly
		// every daemon of the machine.
		st.Start < s.f.Mark.Launcher.Start
}

// under reports whether an ancestor of a process is excluded, or whether it is an
// ancestor of ourselves.
func (s *search) under(st proc.Stat) bool {
	for _, id := range lineage(st) {
		if s.never[id] {
			return true
		}
	}
	return s.above[st.ID]
}

// lineage is a process and its ancestors as they are now.
func lineage(st proc.Stat) []proc.ID {
	const deepest = 1000 // read one after the other, the states might show a ring
	line := []proc.ID{st.ID}
	for len(line) < deepest && st.Parent > 0 {
		parent, err := proc.ReadStat(st.Parent)
		if err != nil {
			break
		}
		line = append(line, parent.ID)
		st = parent
	}
	return line
}

// carries reports whether a process's environment holds the attempt's mark, of the
// rank that is looked for.
func (p *pass) carries(st proc.Stat) bool {
	if p.f.Mark.IsZero() || p.plain[st.ID] {
		return false
	}
	environ := p.env.of(st)
	if len(environ) == 0 && !st.ID.Alive() {
		p.vanished++
		return false
	}
	found := false
	for mark, local := range marks(environ) {
		if mark == p.f.Mark {
			found = true
			if p.rank == whole || p.rank == local {
				return true
			}
		}
	}
	if !found {
		p.plain[st.ID] = true
	}
	return false
}
