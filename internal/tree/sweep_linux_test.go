package tree

import (
	"context"
	"maps"
	"os"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"

	"lenslaunch/internal/proc"
)

// users are who a launcher can be.
func users(t *testing.T) map[string]*syscall.Credential {
	t.Helper()
	if os.Geteuid() != 0 {
		return map[string]*syscall.Credential{"user": nil}
	}
	return map[string]*syscall.Credential{"root": nil, "nobody": {Uid: nobody, Gid: nobody}}
}

func kinds() []string { return slices.Sorted(maps.Keys(offspring)) }

// Nothing of an attempt survives, whatever it did, no zombie is left, and nobody else
// is harmed (pytorch#110065, TensorRT-LLM#16404, actions/runner#4601).
func TestSweep(t *testing.T) {
	for user, credential := range users(t) {
		for i, kind := range kinds() {
			t.Run(user+"/"+kind, func(t *testing.T) {
				cmd := launcherCommand(kind)
				cmd.SysProcAttr.Credential = credential
				s := open(t, cmd, 1)
				s.lookalike(i)
				before := len(s.cast)
				if strings.HasPrefix(kind, "forks") {
					before++ // whoever of the chain it is
				}
				r := s.sweep()
				if !r.Empty() || r.Killed < before {
					t.Errorf("%d of %d killed: %+v", r.Killed, before, r)
				}
				s.nobodyLives()
				s.empty()
			})
		}
	}
}

// lookalike starts a sibling that is not of the attempt, though it looks like it: each
// test another.
func (s *stage) lookalike(i int) {
	s.t.Helper()
	all := lookalikes(s.finder().Mark)
	s.sibling(all[i%len(all)])
}

// lookalikes are environment entries that are not of the attempt.
func lookalikes(m Mark) []string {
	value := m.Value(0)
	other := m
	other.Attempt++
	swap := "0"
	if strings.HasSuffix(m.String(), swap) {
		swap = "1"
	}
	return []string{
		Variable + "=" + m.String()[:len(m.String())-1] + swap + "/0", // one character differs
		Variable + "=" + value + "x",
		Variable + "=x" + value,
		Variable + "=" + m.String(),
		Variable + "=" + other.Value(0),
		Variable + "X=" + value,
		"X" + Variable + "=" + value,
		"X=" + Variable + "=" + value,
		strings.ToLower(Variable) + "=" + value,
	}
}

// Leaders that ended leave their offspring to the sweep; the zombie of one pins its
// group, the other was reaped.
func TestSweepAfterTheLeaders(t *testing.T) {
	var args []string
	for _, kind := range kinds() {
		if !strings.HasPrefix(kind, "forks") { // it would go on until all ranks are there
			args = append(args, kind+"/leave")
		}
	}
	s := open(t, launcherCommand(args...), len(args))
	for i := range args {
		ask[string](s, "wait", i)
		if i%2 == 0 {
			ask[any](s, "reap", i)
		}
	}
	found := s.names(ask[[]proc.Stat](s, "find"))
	if r := s.sweep(); !r.Empty() || r.Killed < len(s.cast)-len(args) {
		t.Errorf("%d of %v killed: %+v; found %v", len(s.cast)-len(args), s.cast, r, found)
	}
	s.nobodyLives()
	s.empty()
}

// All are stopped before one is killed, so that none sees another die and acts on it.
func TestSweepStopsFirst(t *testing.T) {
	s := open(t, launcherCommand("own session", "ignores signals"), 2)
	sw := &sweep{ctx: t.Context(), search: newSearch(s.finder(), whole), reap: func() {}, known: map[proc.ID]bool{}}
	defer sw.close()
	if !sw.freeze() || len(sw.fresh) != len(s.cast) {
		t.Errorf("%d of %d stopped", len(sw.fresh), len(s.cast))
	}
	for _, line := range s.cast {
		// The kernel stops a process when it gets to it.
		for st, err := proc.ReadStat(line.ID.Pid); st.State != 'T'; st, err = proc.ReadStat(line.ID.Pid) {
			if err != nil || t.Context().Err() != nil {
				t.Fatalf("%s: %+v, %v", line.Name, st, err)
			}
			runtime.Gosched()
		}
	}
	sw.kill()
	sw.wait()
	if r := sw.outcome(); !r.Empty() || r.Killed != len(s.cast) {
		t.Errorf("%+v", r)
	}
}

// An empty attempt costs one look.
func TestSweepOfNothing(t *testing.T) {
	s := open(t, launcherCommand("none/leave"), 1)
	ask[string](s, "wait", 0)
	if r := s.sweep(); !r.Empty() || r.Killed != 0 || r.Passes > 3 {
		t.Errorf("%+v", r)
	}
	s.nobodyLives()
	s.empty()
}

// The launcher is gone by SIGKILL: a guard, which has no descendants to look at, finds
// the attempt by mark, groups and sessions (launch specification, "Guard").
func TestSweepWithoutLauncher(t *testing.T) {
	for user, credential := range users(t) {
		for i, kind := range kinds() {
			if kind == "daemon with a clean environment" || kind == ownGroupOrphan || strings.Contains(kind, "clean environment each") {
				continue // only their descent tells: see TestFindLimits
			}
			t.Run(user+"/"+kind, func(t *testing.T) {
				cmd := launcherCommand(kind)
				cmd.SysProcAttr.Credential = credential
				s := open(t, cmd, 1)
				s.lookalike(i)
				f := orphaned(t, s, s.finder())
				ctx, cancel := context.WithTimeout(t.Context(), patience)
				defer cancel()
				if r := Sweep(ctx, f, nil); !r.Empty() {
					t.Errorf("%+v", r)
				}
				for _, line := range s.cast {
					if line.ID.Alive() {
						t.Errorf("%s lives", line.Name)
					}
				}
				s.innocentsLive()
				s.ends()
			})
		}
	}
}

// orphaned kills the launcher and returns what a guard knows then.
func orphaned(t *testing.T, s *stage, f Finder) Finder {
	t.Helper()
	st, err := proc.ReadStat(os.Getpid()) // the launcher has our session
	if err != nil {
		t.Fatal(err)
	}
	f.Session = SessionOf(st)
	for _, line := range s.cast { // a tick is long: all of them began before this one
		for f.Pinned = now(t); f.Pinned <= line.ID.Start; f.Pinned = now(t) {
			runtime.Gosched()
		}
	}
	if err := s.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = s.cmd.Wait() // killed
	return f
}

// A process of another user is named, not waited for.
func TestSweepOfAnotherUser(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root to start processes of two users")
	}
	s := open(t, launcherCommand("child/nobody", "child"), 2)
	ask[any](s, "setuid", nobody-1)
	r := s.sweep()
	if len(r.Left) == 0 || r.Err != nil {
		t.Fatalf("%+v", r)
	}
	for _, left := range r.Left {
		if left.Reason != Permission || left.State == 'T' || !strings.Contains(left.String(), "permission") {
			t.Errorf("%v", left)
		}
	}
}

// A process that SIGKILL does not end is an outcome with the place where it hangs,
// not an endless wait. (A frozen process of the old freezer is such a one.)
func TestSweepOfUninterruptible(t *testing.T) {
	freezer := newFreezer(t)
	s := open(t, launcherCommand("child"), 1)
	frozen := s.cast[0].ID
	freezer.freeze(frozen)
	r := ask[Result](s, "sweep", 500)
	if len(r.Left) != 1 || r.Left[0].ID != frozen || r.Left[0].Reason != Uninterruptible || r.Left[0].WaitChannel == "" {
		t.Errorf("left: %v", r.Left)
	}
	if r.Empty() || r.Killed != 1 || r.Err != nil {
		t.Errorf("%+v", r)
	}
	freezer.thaw()
	if r := s.sweep(); !r.Empty() {
		t.Errorf("after the thaw: %+v", r)
	}
	s.nobodyLives()
	s.empty()
}

// Descriptors run out in the middle: all are ended nevertheless.
func TestSweepWithoutDescriptors(t *testing.T) {
	s := open(t, launcherCommand("many"), 1)
	ask[any](s, "descriptors", 8)
	if r := s.sweep(); !r.Empty() || r.Killed < 13 {
		t.Errorf("%+v", r)
	}
	s.nobodyLives()
	s.empty()
}

// Without any descriptor nothing can be looked at, and that is said.
func TestSweepThatSeesNothing(t *testing.T) {
	s := open(t, launcherCommand("child"), 1)
	ask[any](s, "descriptors", 0)
	// The error itself does not survive JSON.
	r := ask[map[string]any](s, "sweep", 100)
	if r["Err"] == nil {
		t.Errorf("%+v", r)
	}
}

// A context that is over allows one look and one SIGKILL.
func TestSweepOutOfTime(t *testing.T) {
	s := open(t, launcherCommand("child"), 1)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	r := Sweep(ctx, s.finder(), nil)
	for _, left := range r.Left {
		if left.Reason == Permission {
			t.Errorf("%v", left)
		}
	}
	if len(r.Left)+r.Killed != 2 {
		t.Errorf("%+v", r)
	}
	if r := s.sweep(); !r.Empty() {
		t.Errorf("%+v", r)
	}
	s.nobodyLives()
	s.empty()
}

// A recycled pid: the numbers are right, the processes are others (golang/go#16028).
func TestSweepOfRecycledPids(t *testing.T) {
	s := open(t, launcherCommand("none"), 1)
	f := s.finder()
	sibling := s.sibling()
	other := proc.ID{Pid: sibling.Pid, Start: sibling.Start - 1}
	parent := proc.ID{Pid: os.Getpid(), Start: 1}
	f.Root, f.Leaders, f.Mark = parent, []proc.ID{other, {Pid: f.Leaders[0].Pid, Start: f.Leaders[0].Start + 1}}, Mark{}
	f.Pinned = now(t) + 1000
	if r := Sweep(t.Context(), f, nil); r.Killed != 0 || !r.Empty() {
		t.Errorf("%+v", r)
	}
	for _, line := range s.cast {
		if !line.ID.Alive() {
			t.Errorf("%s was killed", line.Name)
		}
	}
	s.innocentsLive()
}
