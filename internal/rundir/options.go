package rundir

import (
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"lenslaunch/internal/proc"
)

// Options is what [Open] needs to know.
type Options struct {
	Dir         string      // of the run; made if missing
	Node, Nodes int         // this node's place, from 0, among so many; Nodes 0 counts as 1
	Launcher    Launcher    // Version; the rest is found out where it is not given
	Run         RunInfo     // written to run.json at once
	Warn        func(error) // told of the first write that failed, from any goroutine; it must not use the Dir; nil: nobody is told
}

// RunInfo is what is known of a run before its first attempt.
type RunInfo struct {
	RunID     string
	JobUUID   string
	Command   []string // only the first word and the number of the others are kept
	Role      string
	WorldSize int      // ranks on all nodes
	Ranks     int      // on this node
	Why       []string // one line per decision
}

// system is what tests replace.
type system struct {
	flock func(f *os.File, how int) error
	write func(f *os.File, text []byte) (int, error)
	now   func() time.Time
	boot  func() time.Duration // the machine's monotonic clock
	step  func(name string)    // told after each step of a change, for crashes there
}

func realSystem() system {
	return system{
		flock: flock,
		write: func(f *os.File, text []byte) (int, error) { return f.Write(text) },
		now:   time.Now,
		boot:  sinceBoot,
		step:  func(string) {},
	}
}

func flock(f *os.File, how int) error {
	_, err := retry(func() (struct{}, error) { return struct{}{}, unix.Flock(int(f.Fd()), how) })
	return err
}

// complete fills in what the caller left open.
func (o Options) complete() (Options, error) {
	if o.Nodes == 0 {
		o.Nodes = 1
	}
	if o.Dir == "" || o.Node < 0 || o.Node >= o.Nodes {
		return o, fmt.Errorf("%q for node %d of %d names none", o.Dir, o.Node, o.Nodes)
	}
	if o.Warn == nil {
		o.Warn = func(error) {}
	}
	o.Launcher = o.Launcher.complete()
	return o, nil
}

// complete makes it this process where it is not said which one it is.
func (l Launcher) complete() Launcher {
	if l.Pid == 0 {
		l.Pid = os.Getpid()
	}
	if l.Start == 0 {
		if stat, err := proc.ReadStat(l.Pid); err == nil {
			l.Start = stat.Start
		}
	}
	if l.Host == "" {
		l.Host, _ = os.Hostname()
	}
	if l.Boot == "" {
		l.Boot, l.PidNS = machine()
	}
	return l
}

// State says whether the launcher runs: [OutcomeRunning], [OutcomeUnknown] if it is
// gone, and an empty text if that cannot be told from here: its pid means nothing on
// another machine or in another container.
func (l Launcher) State() string {
	boot, pidNS := machine()
	if l.Pid <= 0 || l.Boot == "" || l.Boot != boot || l.PidNS != pidNS {
		return ""
	}
	if (proc.ID{Pid: l.Pid, Start: l.Start}).Alive() {
		return OutcomeRunning
	}
	return OutcomeUnknown
}
