package tree

import "lenslaunch/internal/proc"

// candidate reports whether a process could still turn out to be the attempt's.
func (p *pass) candidate(st proc.Stat) bool {
	_, known := p.ours[st.Pid]
	return !known && !st.Dead() && !p.barred(st)
}

// barred reports whether this process is certainly none of the attempt's.
func (s *search) barred(st proc.Stat) bool {
	return s.above[st.ID] || st.Pid == 1 || st.ID == s.f.Root || s.never[st.ID] ||
		// Nothing of the attempt is older than its launcher. This alone rules out nearly
		// every daemon of the machine.
		st.Start < s.f.Mark.Launcher.Start
}

// under reports whether an ancestor of a process is excluded.
func (s *search) under(st proc.Stat) bool {
	for _, id := range lineage(st) {
		if s.never[id] {
			return true
		}
	}
	return false
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
	if len(environ) == 0 {
		// It has ended, or is between two programs (exec), or really has none.
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
