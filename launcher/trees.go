package launcher

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"time"

	"lenslaunch/internal/cgroup"
	"lenslaunch/internal/guard"
	"lenslaunch/internal/proc"
	"lenslaunch/internal/tree"
)

// forest holds the processes of attempts together (the launch specification, "The
// tree"): in a control group of each attempt where we may make one, and in any case
// as descendants of this process, which adopts every orphan.
type forest struct {
	self   proc.ID
	home   int            // our session, in which ranks begin
	parent *cgroup.Parent // nil: no control groups
	why    string         // why there are none
	wide   bool           // descendants may be somebody else's: look for the mark, too
}

// sweepTime bounds the end of an attempt: what does not end by SIGKILL in this time
// is an outcome with pid and wait channel, not an endless wait.
const sweepTime = 10 * time.Second

// newForest finds out what there is. It changes nothing but that orphans are adopted.
func newForest(groups bool, s *proc.Spawner) (*forest, error) {
	st, err := proc.ReadStat(os.Getpid())
	if err != nil {
		return nil, fmt.Errorf("cannot read this process's own state: %w", err)
	}
	f := &forest{self: st.ID, home: tree.SessionOf(st), wide: os.Getpid() == 1 || len(s.Strangers()) > 0}
	if err := proc.BecomeSubreaper(); err != nil {
		f.wide = true
	}
	if !groups {
		f.why = "control groups are turned off"
		return f, nil
	}
	if f.parent, err = cgroup.Find(); err != nil {
		f.parent, f.why = nil, err.Error()
	}
	return f, nil
}

// plant makes the place of an attempt's processes. Without a control group it goes on
// as well as it can: the sweep finds what the group would hold.
func (f *forest) plant(number int, ranks int, strangers []proc.ID) (*grown, error) {
	mark, err := tree.NewMark(number)
	if err != nil {
		return nil, err
	}
	g := &grown{forest: f, mark: mark, ranks: make([]*cgroup.Group, ranks), strangers: strangers}
	if f.parent == nil {
		return g, nil
	}
	group, err := f.parent.Create(cgroup.GroupName(f.self.Pid, f.self.Start, number))
	if err != nil {
		f.parent, f.why = nil, err.Error()
		return g, nil
	}
	g.group = group
	return g, nil
}

// grown is one attempt's processes. The goroutine that starts ranks writes an element
// of ranks before it tells the loop of that rank; the loop reads it after.
type grown struct {
	*forest
	mark      tree.Mark
	group     *cgroup.Group   // nil: none
	ranks     []*cgroup.Group // by local rank, nil: none
	strangers []proc.ID
	reaped    uint64 // when the first leader was reaped (proc.Now), 0: none yet
}

// enter prepares a rank's command to be born in its control group and to carry the
// attempt's mark.
func (g *grown) enter(cmd *exec.Cmd, local int) error {
	cmd.Env = append(cmd.Env, tree.Variable+"="+g.mark.Value(local))
	if g.group == nil {
		return nil
	}
	sub, err := g.group.Sub("rank-" + strconv.Itoa(local))
	if err != nil {
		return err
	}
	g.ranks[local] = sub
	cmd.SysProcAttr = bornIn(sub.FD())
	return nil
}

// finder describes the attempt to a sweep. Where nothing below us can be a stranger's,
// every descendant is found without reading the environment of every process on the
// machine.
func (g *grown) finder(children []*proc.Child, exclude []proc.ID) tree.Finder {
	f := tree.Finder{
		Root: g.self, Exclude: exclude, Strangers: g.strangers, Leaders: make([]proc.ID, len(children)),
		Session: g.home, Pinned: g.reaped, Mark: g.mark, Adopting: !g.wide,
	}
	for local, c := range children {
		if c != nil {
			f.Leaders[local] = c.ID
		}
	}
	return f
}

// guarded is what a guard must know of the attempt.
func (g *grown) guarded(exclude []proc.ID) guard.Attempt {
	a := guard.Attempt{Finder: tree.Finder{
		Root: g.self, Mark: g.mark, Exclude: exclude, Strangers: g.strangers, Session: g.home,
	}}
	if g.group != nil {
		a.Cgroup = g.group.Path()
	}
	return a
}

// kill ends what is in a rank's control group.
func (g *grown) kill(local int) {
	if sub := g.ranks[local]; sub != nil {
		// What a group cannot end the sweep ends or reports.
		_ = sub.Kill()
	}
}

// end ends everything and says what it could not end. reap collects orphans.
func (g *grown) end(finder tree.Finder, reap func()) []Left {
	ctx, cancel := context.WithTimeout(context.Background(), sweepTime)
	defer cancel()
	if g.group != nil {
		if g.group.Kill() == nil {
			_ = g.group.WaitEmpty(ctx)
		}
	}
	result := sweep(ctx, finder, reap)
	g.fell()
	var left []Left
	for _, l := range result.Left {
		left = append(left, Left{Pid: l.Pid, Command: l.Comm, Why: why(l)})
	}
	if result.Err != nil {
		left = append(left, Left{Why: "cannot look for it: " + result.Err.Error()})
	}
	return left
}

// fell removes the control group, which is empty by now; one that is not shows what
// could not be ended, and the next launcher of the run finds it.
func (g *grown) fell() {
	if g.group == nil {
		return
	}
	_ = g.group.Remove()
	for _, sub := range g.ranks {
		if sub != nil {
			sub.Close()
		}
	}
	g.group.Close()
	g.group = nil
}

func why(l tree.Left) string {
	if l.WaitChannel != "" {
		return fmt.Sprintf("%v, in %s", l.Reason, l.WaitChannel)
	}
	return string(l.Reason)
}
