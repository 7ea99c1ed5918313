package tree

import (
	"os"
	"slices"

	"lenslaunch/internal/proc"
)

// Finder describes what belongs to one attempt. It is plain data and can be handed
// to a guard as JSON.
type Finder struct {
	// Root is the launcher: everything below it is the attempt's, except what is
	// excluded. Zero or dead: the rest has to do (a guard).
	Root proc.ID
	// Adopting: Root adopts every orphan below it, and nobody else's: while it lives,
	// what is not below it is none of the attempt's, whatever it shows. A batch job that
	// a rank submitted may run on this very machine with the rank's environment.
	Adopting bool
	// Mark of the attempt; zero: none was given.
	Mark Mark
	// Leaders by local rank; zero: not started. They may have ended, and be reaped.
	Leaders []proc.ID
	// Exclude are processes that are never the attempt's, with all below them: the
	// guard.
	Exclude []proc.ID
	// Strangers are children that the launcher had before it became one
	// (proc.Spawner.Strangers), excluded as well. If there are any, or if the launcher
	// is process 1 of a container, an orphan below Root may be theirs, or come from
	// `docker exec`: it then counts only with a mark, a group or a session of ours.
	Strangers []proc.ID
	// Session is the launcher's own session, in which ranks begin, as SessionOf tells.
	// 0: Root's, while that lives; without either only sessions count whose leader is
	// found.
	Session int
	// Pinned is a time (proc.Now) until which no leader was reaped, so that no leader's
	// number was given away: what started in its group before is ours even if it shows
	// no mark. A guard takes it when it sees the launcher's end. 0: unknown.
	Pinned uint64
}

// outside, as a Finder's Session, is one that is led from outside our pid namespace: the
// state of its members shows 0. A launcher has such a session where something entered
// a container to start it, or where process 1 is no session's leader.
const outside = -1

// SessionOf is the session of a process as a Finder holds it; never 0.
func SessionOf(st proc.Stat) int {
	if st.Session == 0 {
		return outside
	}
	return st.Session
}

// whole, in the place of a local rank, stands for the whole attempt.
const whole = -1

// Find returns the processes of the attempt that live now. A process that is being
// born meanwhile may be missed.
func (f Finder) Find() []proc.Stat { return f.find(whole) }

// FindRank returns those of one rank. An orphan that shows neither the rank's mark
// nor its group nor a session of its processes is found by Find only.
func (f Finder) FindRank(local int) []proc.Stat { return f.find(local) }

func (f Finder) find(rank int) []proc.Stat {
	s := newSearch(f, rank)
	defer s.close()
	var list []proc.Stat
	// What cannot be looked at is not found; Sweep, which promises more, says so.
	_, _ = s.pass(true, func(st proc.Stat) {
		if !st.Dead() {
			list = append(list, st)
		}
	})
	return list
}

// shared reports whether Root may have descendants that are nobody's business.
func (f Finder) shared() bool { return f.Root.Pid == 1 || len(f.Strangers) > 0 }

// A search looks for an attempt's processes, once or again and again.
type search struct {
	f       Finder
	rank    int              // whole, or a local rank
	rooted  bool             // the launcher lives: what it adopts is seen even after its end
	below   bool             // nothing of the attempt is elsewhere but below the launcher
	leaders map[int]proc.ID  // those that the search is about, by pid
	home    int              // the launcher's session (SessionOf), 0: unknown
	never   map[proc.ID]bool // excluded, with all below
	above   map[proc.ID]bool // ourselves and our ancestors
	env     *environs
	plain   map[proc.ID]bool // seen without the mark: not read again in this search
	zombies map[proc.ID]bool // seen dead
}

func newSearch(f Finder, rank int) *search {
	s := &search{
		f: f, rank: rank, leaders: map[int]proc.ID{}, home: f.Session,
		never: map[proc.ID]bool{}, above: map[proc.ID]bool{}, plain: map[proc.ID]bool{},
		zombies: map[proc.ID]bool{},
		env:     newEnvirons(readEnviron),
	}
	for local, id := range f.Leaders {
		if id.Pid > 0 && (rank == whole || rank == local) {
			s.leaders[id.Pid] = id
		}
	}
	for _, id := range slices.Concat(f.Exclude, f.Strangers) {
		s.never[id] = true
	}
	if self, err := proc.ReadStat(os.Getpid()); err == nil {
		for _, id := range lineage(self) {
			s.above[id] = true
		}
	}
	if root, err := proc.ReadStat(f.Root.Pid); f.Root.Pid > 0 && err == nil && root.ID == f.Root {
		s.rooted = !f.shared()
		s.below = s.rooted && f.Adopting
		if s.home == 0 {
			s.home = SessionOf(root)
		}
	}
	return s
}

func (s *search) close() { s.env.close() }
