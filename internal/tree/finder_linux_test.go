package tree

import (
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"lenslaunch/internal/proc"
)

// names are the enrolled names of the processes that a list holds, sorted; what did
// not enroll is shown as it is.
func (s *stage) names(list []proc.Stat) []string {
	cast := map[proc.ID]string{}
	for _, line := range slices.Concat(s.cast, s.spared) {
		cast[line.ID] = line.Name
	}
	found := []string{}
	for _, st := range list {
		if name, ok := cast[st.ID]; ok {
			found = append(found, name)
		} else {
			found = append(found, fmt.Sprintf("%+v", st))
		}
	}
	slices.Sort(found)
	return found
}

// quiet are the kinds of offspring that stay as they are.
func quiet() []string {
	all := maps.Clone(offspring)
	maps.DeleteFunc(all, func(kind string, _ func(string) error) bool {
		return strings.HasPrefix(kind, "forks") || kind == "none"
	})
	return slices.Sorted(maps.Keys(all))
}

// A launch of all kinds at once, seen as a whole and rank by rank.
func TestFind(t *testing.T) {
	kinds := quiet()
	s := open(t, launcherCommand(kinds...), len(kinds))
	s.sibling(Variable + "=" + s.finder().Mark.String() + "/-1")

	var everybody []string
	for _, line := range s.cast {
		everybody = append(everybody, line.Name)
	}
	slices.Sort(everybody)
	if diff := cmp.Diff(everybody, s.names(ask[[]proc.Stat](s, "find"))); diff != "" {
		t.Errorf("Find: -want +got:\n%s", diff)
	}
	for local, kind := range kinds {
		want := []string{"rank"}
		for _, name := range everybody {
			// An orphan that shows nothing does not tell whose it is.
			if name == kind && kind != "daemon with a clean environment" && kind != ownGroupOrphan {
				want = append(want, kind)
			}
		}
		slices.Sort(want)
		if diff := cmp.Diff(want, s.names(ask[[]proc.Stat](s, "rank", local))); diff != "" {
			t.Errorf("FindRank of %q: -want +got:\n%s", kind, diff)
		}
	}
	for _, local := range []int{-2, len(kinds), 1 << 40} {
		if list := ask[[]proc.Stat](s, "rank", local); len(list) > 0 {
			t.Errorf("rank %d: %+v", local, list)
		}
	}
}

// What no longer shows anything of the attempt is found by descent only: not without
// the launcher. This is the limit that the package comment names.
func TestFindLimits(t *testing.T) {
	hidden := []string{"daemon with a clean environment", ownGroupOrphan}
	s := open(t, launcherCommand(hidden...), len(hidden))
	f := orphaned(t, s, s.finder())
	for _, name := range s.names(f.Find()) {
		if name != "rank" { // it is being killed
			t.Errorf("found: %s", name)
		}
	}
}

// The session of which one of ours is a member is ours only if it is not the
// launcher's: without knowing that one, only what a session's leader tells counts.
func TestFindBySession(t *testing.T) {
	const led, unled = "session with an orphan", "session without its leader"
	s := open(t, launcherCommand(led, unled), 2)
	f := orphaned(t, s, s.finder())
	for session, want := range map[int][]string{f.Session: {led, led, unled, unled}, 0: {led, led, unled}} {
		f.Session = session
		got := slices.DeleteFunc(s.names(f.Find()), func(name string) bool { return name == "rank" })
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("session %d: -want +got:\n%s", session, diff)
		}
	}
}

// The group of a leader that was reaped proves nothing by itself, since its number may
// have been given away; what began before that could be is ours.
func TestFindByGroupOfReapedLeader(t *testing.T) {
	const kind = "overwrites its environment"
	s := open(t, launcherCommand(kind+"/leave"), 1)
	ask[string](s, "wait", 0)
	ask[any](s, "reap", 0)
	f := orphaned(t, s, s.finder())
	member := s.hold(kind).Start
	for pinned, want := range map[uint64][]string{0: {}, member: {}, member + 1: {kind}, f.Pinned: {kind}} {
		f.Pinned = pinned
		if diff := cmp.Diff(want, s.names(f.Find())); diff != "" {
			t.Errorf("pinned %d, member began %d: -want +got:\n%s", pinned, member, diff)
		}
	}
	// A process that began before the leader was never in its group by descent.
	f.Leaders[0].Start = member + 1
	if diff := cmp.Diff([]string{}, s.names(f.Find())); diff != "" {
		t.Errorf("older than the leader: -want +got:\n%s", diff)
	}
}

// A rank's environment that was carried elsewhere (sbatch, at) makes nobody the
// attempt's while its launcher lives.
func TestMarkElsewhere(t *testing.T) {
	s := open(t, launcherCommand("child/leave"), 1)
	ask[string](s, "wait", 0)
	s.sibling(Variable + "=" + s.finder().Mark.Value(0))
	if diff := cmp.Diff([]string{"child"}, s.names(ask[[]proc.Stat](s, "rank", 0))); diff != "" {
		t.Errorf("FindRank: -want +got:\n%s", diff)
	}
	if sent := ask[int](s, "signal", 0, int(syscall.SIGURG)); sent != 1 {
		t.Errorf("signal sent to %d", sent)
	}
	if r := s.sweep(); !r.Empty() || r.Killed != 1 {
		t.Errorf("%+v", r)
	}
	s.nobodyLives()
	s.empty()
}

// Nothing older than its launcher is of an attempt, even with its mark.
func TestFindNothingOlder(t *testing.T) {
	s := open(t, launcherCommand("none"), 1)
	m := sample()
	m.Launcher.Start = now(t) + 1000
	id := s.sibling(Variable + "=" + m.Value(0))
	if list := (Finder{Mark: m}).Find(); len(list) > 0 {
		t.Errorf("found: %+v", list)
	}
	same := m
	same.Launcher.Start = id.Start
	other := s.sibling(Variable + "=" + same.Value(0))
	if list := (Finder{Mark: same}).Find(); len(list) != 1 || list[0].ID != other {
		t.Errorf("found: %+v, want %v", list, other)
	}
}

// The stop signal reaches what a rank's leader left behind, and nobody else's
// (ompi#3337).
func TestSignal(t *testing.T) {
	s := open(t, launcherCommand("child/leave", "stopped/leave", "own session/leave", "own group"), 4)
	for local := range 3 {
		ask[string](s, "wait", local)
	}
	ask[any](s, "reap", 0)
	for local, name := range []string{"child", "stopped", "own session"} {
		h := s.hold(name)
		if sent := ask[int](s, "signal", local, int(syscall.SIGTERM)); sent != 1 {
			t.Errorf("rank %d: signal sent to %d", local, sent)
		}
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		if err := h.Wait(ctx); err != nil {
			t.Errorf("%s did not die of SIGTERM: %v", name, err)
		}
		cancel()
		if sent := ask[int](s, "signal", local, int(syscall.SIGTERM)); sent != 0 {
			t.Errorf("rank %d: signal sent to %d after its end", local, sent)
		}
	}
	if diff := cmp.Diff([]string{"own group", "rank"}, s.names(ask[[]proc.Stat](s, "find"))); diff != "" {
		t.Errorf("the other rank: -want +got:\n%s", diff)
	}
}

// A signal that stops is not followed by one that continues.
func TestSignalThatStops(t *testing.T) {
	s := open(t, launcherCommand("stopped"), 1)
	for _, sig := range []syscall.Signal{0, syscall.SIGSTOP, syscall.SIGTSTP} {
		if sent := ask[int](s, "signal", 0, int(sig)); sent != 2 {
			t.Errorf("%v sent to %d", sig, sent)
		}
	}
	h := s.hold("stopped")
	if st, err := proc.ReadStat(h.Pid); err != nil || st.State != 'T' {
		t.Errorf("%+v, %v", st, err)
	}
}

// hold is a handle of the first living process of that name.
func (s *stage) hold(name string) *proc.Handle {
	s.t.Helper()
	for _, line := range s.cast {
		if line.Name != name {
			continue
		}
		if h, err := proc.Hold(line.ID); err == nil {
			s.t.Cleanup(h.Close)
			return h
		}
	}
	s.t.Fatalf("no %q lives", name)
	return nil
}

// Children that the launcher had before it became one are nobody's to kill, nor are
// their orphans that the launcher adopts (TensorRT-LLM#16404).
func TestStrangers(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := launcherCommand()
	cmd.Path, err = exec.LookPath("sh")
	if err != nil {
		t.Fatal(err)
	}
	kinds := []string{"child", "own session", "daemon", "orphan with a clean environment", "many"}
	cmd.Args = append([]string{"sh", "-c", `"$0" tree-helper rank child stay <&- & exec "$0" tree-helper launcher "$@"`, self}, kinds...)
	s := open(t, cmd, len(kinds)+1)
	f := s.finder()
	if len(f.Strangers) != 1 {
		t.Fatalf("strangers: %v", f.Strangers)
	}
	h, err := proc.Hold(f.Strangers[0])
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	if r := s.sweep(); !r.Empty() {
		t.Errorf("%+v", r)
	}
	s.nobodyLives()

	// Now the launcher adopts the stranger's child.
	if err := h.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if err := h.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	if r := s.sweep(); !r.Empty() || r.Killed != 0 {
		t.Errorf("%+v", r)
	}
	s.spared = slices.DeleteFunc(s.spared, func(line actorLine) bool { return line.ID == f.Strangers[0] })
	s.nobodyLives()
	s.empty()
}

// As process 1 of a container the launcher adopts what `docker exec` left behind: not
// the attempt's. Its own orphans are.
func TestContainer(t *testing.T) {
	nsenter, err := exec.LookPath("nsenter")
	if os.Geteuid() != 0 || err != nil {
		t.Skipf("needs root and nsenter: %v", err)
	}
	kinds := []string{"child", "own session", "daemon", "orphan with a clean environment", ownGroupOrphan, "forks in a loop"}
	cmd := launcherCommand(kinds...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWPID | syscall.CLONE_NEWNS, Setsid: true}
	s := open(t, cmd, len(kinds))
	if root := s.finder().Root; root.Pid != 1 {
		t.Fatalf("the launcher is %v", root)
	}
	for _, session := range []string{"", "1"} {
		s.enter(nsenter, session)
	}
	if r := s.sweep(); !r.Empty() {
		t.Errorf("%+v", r)
	}
	s.nobodyLives()
}

// enter leaves a process in the launcher's container that comes from outside.
func (s *stage) enter(nsenter, session string) {
	s.t.Helper()
	self, err := os.Executable()
	if err != nil {
		s.t.Fatal(err)
	}
	cmd := exec.Command(nsenter, "--target", fmt.Sprint(s.cmd.Process.Pid), "--pid", "--mount", "--",
		self, helperWord, "fork-off", "sit", "from outside")
	cmd.Env = append(os.Environ(), "SESSION="+session)
	cmd.ExtraFiles = []*os.File{s.write, null(s.t)}
	if out, err := cmd.CombinedOutput(); err != nil {
		s.t.Fatalf("%v: %s", err, out)
	}
	line, ok := s.next()
	if !ok || line.Name != "from outside" {
		s.t.Fatalf("%v came", line)
	}
	if st := ask[proc.Stat](s, "state", line.ID.Pid); st.Parent != 1 {
		s.t.Fatalf("not adopted: %+v", st)
	}
	s.spared = append(s.spared, line)
}

// We and our ancestors are never the attempt's, whatever they carry: a launcher can be
// started inside a rank.
func TestAncestorsAreSpared(t *testing.T) {
	s := newSearch(Finder{}, whole)
	defer s.close()
	for pid := os.Getpid(); pid > 1; {
		st, err := proc.ReadStat(pid)
		if err != nil {
			t.Fatal(err)
		}
		if !s.barred(st) {
			t.Errorf("%+v could be killed", st)
		}
		pid = st.Parent
	}
}

// The marks of a launcher's attempts are found by the processes that carry them.
func TestMarks(t *testing.T) {
	s := open(t, launcherCommand("own session"), 1)
	mark := s.finder().Mark
	s.sibling(Variable+"="+mark.String(), "X"+Variable+"="+mark.Value(0))
	if diff := cmp.Diff([]Mark{mark}, Marks([]proc.ID{{Pid: 1, Start: 1}, mark.Launcher})); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	other := proc.ID{Pid: mark.Launcher.Pid, Start: mark.Launcher.Start + 1}
	if found := Marks([]proc.ID{other}); len(found) > 0 {
		t.Errorf("marks of a recycled pid: %v", found)
	}
}
