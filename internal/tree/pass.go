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
	vanished int         // how many hid whose they were, by ending or else
}

// pass calls meet for each process of the attempt as soon as it is certain that it
// is one; also for one that has ended by then, which may have left children. Without
// deep it looks at descendants only, which takes a small part of the time.
//
// vanished is how many processes ended, or changed, before it could be seen whose they
// are. The error says that something could not be looked at.
func (s *search) pass(deep bool, meet func(proc.Stat)) (vanished int, err error) {
	p := &pass{search: s, meet: meet, ours: map[int]proc.Stat{}, bonds: newBonds(s)}
	err = p.descend()
	if !deep || p.rank == whole && p.search.below {
		return 0, err
	}
	gone, scan := p.scan()
	p.bound()
	return gone + p.vanished, errors.Join(err, scan)
}

// scan looks at every process that could be the attempt's.
func (p *pass) scan() (gone int, err error) {
	if !p.search.below {
		return proc.Scan(p.scanned)
	}
	return 0, p.walk(p.f.Root, func(st proc.Stat) bool {
		if !p.barred(st) {
			p.scanned(st)
		}
		return !p.never[st.ID]
	})
}

// descend finds the descendants of the launcher and of the leaders. A process that is
// stopped when it is met has no more children when the walk comes to them.
func (p *pass) descend() error {
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
	case st.Dead() && !p.barred(st) && !p.zombies[st.ID]:
		p.zombies[st.ID] = true // not read again, nor taken for new in the next pass
		p.vanished++
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
