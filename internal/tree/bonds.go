package tree

import "lenslaunch/internal/proc"

// bonds remembers which groups and sessions are the attempt's, and a witness for
// each: a process of ours whose membership keeps the number from being given away.
type bonds struct {
	s        *search
	groups   map[int]proc.Stat
	sessions map[int]proc.Stat
}

func newBonds(s *search) bonds {
	b := bonds{s: s, groups: map[int]proc.Stat{}, sessions: map[int]proc.Stat{}}
	// Process 1 of a container that leads its session shares it with nobody who came
	// in from outside: `docker exec` brings a session along.
	if s.rank == whole && s.f.Root.Pid == 1 && len(s.f.Strangers) == 0 {
		if root, err := proc.ReadStat(1); err == nil && root.ID == s.f.Root && root.Session == 1 {
			b.sessions[1] = root
		}
	}
	return b
}

// add makes a process of ours, a zombie too, witness of its group and session.
//
// A group counts if one of ours leads it or if it is a rank's. A session is entered
// by fork alone, and all of ours began in the launcher's: one of ours in another
// session tells that one of ours made it. The launcher's own group and session never
// count: the user's `| tee log` is in them.
func (b *bonds) add(st proc.Stat) {
	if _, rank := b.s.leaders[st.Group]; st.Group != 0 && (st.Group == st.Pid || rank) {
		b.groups[st.Group] = st
	}
	if st.Session != 0 && (st.Session == st.Pid || b.s.home != 0 && st.Session != b.s.home) {
		b.sessions[st.Session] = st
	}
}

// hold reports whether something binds a process to ours, for certain.
func (b *bonds) hold(st proc.Stat, ours map[int]proc.Stat) bool {
	if parent, ok := ours[st.Parent]; ok && confirm(st, parent, sameParent) {
		return true
	}
	if witness, ok := b.groups[st.Group]; ok && confirm(st, witness, sameGroup) {
		return true
	}
	if witness, ok := b.sessions[st.Session]; ok && confirm(st, witness, sameSession) {
		return true
	}
	return b.pinned(st)
}

// A relation of a process to a witness, by what is known of both.
type relation func(st, witness proc.Stat) bool

func sameParent(st, witness proc.Stat) bool  { return st.Parent == witness.Pid }
func sameGroup(st, witness proc.Stat) bool   { return st.Group == witness.Group }
func sameSession(st, witness proc.Stat) bool { return st.Session == witness.Session }

// confirm reads both again, the witness last. It was one of ours before, and is the
// same now with the same numbers: so these were its numbers, and no one else's, when
// the process named them.
func confirm(st, witness proc.Stat, related relation) bool {
	now, err := proc.ReadStat(st.Pid)
	if err != nil || now.ID != st.ID || !related(now, witness) {
		return false
	}
	then, err := proc.ReadStat(witness.Pid)
	return err == nil && then.ID == witness.ID && related(now, then)
}

// pinned reports whether a process without a witness is in the group of a leader
// that was reaped, and began while the leader's number could not be anybody else's.
func (b *bonds) pinned(st proc.Stat) bool {
	leader, ok := b.s.leaders[st.Group]
	if !ok || st.Start < leader.Start || st.Start >= b.s.f.Pinned {
		return false
	}
	now, err := proc.ReadStat(st.Pid)
	if err != nil || now.ID != st.ID || now.Group != leader.Pid {
		return false
	}
	// A process of that pid would be another one: the group might be its own.
	_, err = proc.ReadStat(leader.Pid)
	return proc.Gone(err)
}
