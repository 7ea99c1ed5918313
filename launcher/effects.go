package launcher

import (
	"context"
	"io"
	"os"
	"sync"
	"syscall"
	"time"

	"lenslaunch/internal/guard"
	"lenslaunch/internal/ledger"
	"lenslaunch/internal/logmux"
	"lenslaunch/internal/oom"
	"lenslaunch/internal/port"
	"lenslaunch/internal/proc"
	"lenslaunch/internal/rundir"
)

// effects is the real machine: it starts, signals and ends processes, keeps the
// ledger and the port, and moves output. All methods run in the loop's goroutine;
// slow work runs in goroutines of its own that answer with inputs.
type effects struct {
	plan    *Plan
	console Console
	inputs  chan<- input
	signals <-chan Signal // for close: until then they are the loop's
	done    chan struct{} // closed at the end: goroutines stop answering
	teller  teller
	spawner *proc.Spawner
	running sync.WaitGroup // goroutines that may still answer

	forest    *forest
	front     front
	guard     *guard.Client    // nil: none
	guardGone chan struct{}    // closed when it has ended
	guards    int              // how many were started
	gpus      *gpuMemory       // nil: restarts wait for no GPU
	current   *running         // the attempt that is prepared or runs, nil between
	began     []ledger.Attempt // of this invocation, where the run keeps no ledger
	timers    map[timerKind]*time.Timer
	ctx       context.Context
	cancel    context.CancelFunc
	stopped   time.Time // when the run was told to end, zero: it was not
	until     time.Time // when waiting for the console ends
}

// running is what the machine holds for one attempt.
type running struct {
	number   int // within this invocation
	attempt  Attempt
	warnings []string
	book     *ledger.Ledger    // nil: the run keeps none
	port     *port.Reservation // nil: fixed or another node's
	children []*proc.Child     // by local rank, nil: not started or reaped
	mux      *logmux.Mux
	files    *rundir.Attempt // where the ranks' output is kept, nil: nowhere
	logs     []io.Closer     // files of streams that pass us
	logsMu   sync.Mutex
	private  string         // directory of ours for this attempt, removed with it; empty: none
	tails    []*logmux.Tail // stderr by local rank, nil: not seen by us
	abort    chan struct{}  // closed: start no further rank
	aborted  bool
	ready    bool            // prepared: what its goroutine has written may be read
	trees    *grown          // nil: nothing was started
	memory   *oom.Watcher    // tells kills for memory
	monitor  *monitor        // nil: nobody watches the progress of ranks
	sockets  string          // directory of notification sockets, empty: none
	resting  map[int]bool    // local ranks whose tree outlives its leader
	sooner   chan time.Time  // brings the end of the drain forward, nil: it has not begun
	traced                   // what telemetry has for its ranks
	over     context.Context // done when the attempt is
	finish   context.CancelFunc
}

// Console is where the run's output goes, and where its input comes from.
type Console struct {
	In       *os.File
	Out, Err *logmux.Sink
	OutFile  *os.File // the descriptors behind Out and Err, for a single rank that
	ErrFile  *os.File // gets them itself; nil: it gets pipes
	Dir      *RunDir  // nil: none
}

// files are the descriptors that may be a terminal.
func (c Console) files() []*os.File { return []*os.File{c.In, c.OutFile, c.ErrFile} }

// note keeps the children, which step knows only by number, and tells the identity
// of an attempt, which step does not know at all.
func (e *effects) note(in input) {
	switch in := in.(type) {
	case inPrepared:
		if in.err == nil {
			e.current.ready = true
			e.tellGuard(e.current)
			e.publish(AttemptBegan{At: in.at, Attempt: e.current.attempt, Warnings: e.current.warnings})
		}
	case inStarted:
		e.current.children[in.local] = in.child
		if e.guard != nil {
			_ = e.guard.Leader(in.child.ID)
		}
		if e.front.suspended {
			e.halt(in.child)
		}
		e.await(in)
	case inSpawned:
		// Not before: what is started while the terminal is given away inherits that.
		e.front.give(e.frontChild())
		e.watchFront()
	case inExited:
		if e.current == nil || in.attempt != e.current.number {
			return // what was given up as stuck has ended after all
		}
		if in.local == e.front.local {
			e.front.over(in.exit)
		}
		if e.current.monitor != nil {
			e.current.monitor.tell(news{local: in.local, ended: true})
		}
	}
}

// await starts the one waiter of a child. It begins here, after the child is
// registered, so that no end can be reported before its start.
func (e *effects) await(s inStarted) {
	memory := e.current.memory
	// Not counted in running: a process that SIGKILL cannot end is not waited for.
	go e.caught(func() {
		exit, err := s.child.Wait()
		at := s.child.At()
		if err != nil {
			// The kernel refuses to say how it ended: that is an end all the same.
			exit, at = proc.Exit{Code: ExitInternal}, time.Now()
		}
		in := inExited{at: at, attempt: s.attempt, local: s.local, exit: exit}
		if exit.Signal == killSignal {
			if kill, ok := memory.Explain(); ok {
				in.oom = kill.String()
			}
		}
		e.answer(in)
	})
}

// background runs f in a goroutine that close waits for.
func (e *effects) background(f func()) { e.running.Go(func() { e.caught(f) }) }

// answer gives an input to the loop, unless the run is over.
func (e *effects) answer(in input) {
	select {
	case e.inputs <- in:
	case <-e.done:
	}
}

// act does one action.
func (e *effects) act(a action) {
	switch a := a.(type) {
	case doPrepare:
		e.prepare(a.attempt)
	case doSpawn:
		e.spawn(a.attempt)
	case doAbortSpawn:
		e.abortSpawn()
	case doSignal:
		e.signal(a)
	case doReap:
		e.reap(a.local)
	case doKill:
		e.kill(a.local)
	case doSignalRest:
		e.signalRest(a.local, a.signal)
	case doDump:
		e.dump(a.local)
	case doAdopt:
		e.spawner.ReapOrphans()
		e.watchFront()
		e.checkRests()
	case doSuspend:
		e.suspend(a.group)
	case doResume:
		e.resume()
	case doGuard:
		e.startGuard()
	case doTimer:
		e.timer(a)
	case doSweep:
		e.sweep(a.attempt)
	case doHasten:
		e.hasten(a.at)
	case doTell:
		e.publish(a.event)
	}
}

// publish hands an event to every subscriber, with what only the machine knows.
func (e *effects) publish(ev Event) {
	switch known := ev.(type) {
	case WorkerStarted:
		if e.current.spans != nil {
			known.Span = e.current.spans[known.Local]
			ev = known
		}
	case WorkerEnded:
		if e.current.ends != nil {
			e.current.ends[known.Local] = known
		}
	case AttemptEnded:
		e.ended(&known)
		ev = known
	}
	// Not by the teller: a console that nobody reads holds up the messages, not the record.
	e.console.Dir.hear(ev)
	e.teller.tell(ev)
}

// timer replaces the timer of its kind. A timer that fires meanwhile is harmless:
// step compares attempt and phase.
func (e *effects) timer(a doTimer) {
	if old := e.timers[a.kind]; old != nil {
		old.Stop()
	}
	e.timers[a.kind] = time.AfterFunc(a.after, func() {
		e.answer(inTimer{at: time.Now(), attempt: a.attempt, kind: a.kind})
	})
}

func (e *effects) child(local int) *proc.Child {
	if e.current == nil || local >= len(e.current.children) {
		return nil
	}
	return e.current.children[local]
}

// signal sends to a leader. A leader that has ended meanwhile is no error: its
// exit is on the way.
func (e *effects) signal(a doSignal) {
	c := e.child(a.local)
	if c == nil {
		return
	}
	_ = c.Signal(a.signal)
	if a.wake {
		_ = c.Signal(syscall.SIGCONT)
	}
}

func (e *effects) reap(local int) {
	if c := e.child(local); c != nil {
		e.reapLeader(c)
	}
}

// kill ends a rank's process group. A leader that has ended is reaped afterwards:
// until then its zombie keeps the group's number from being given away.
func (e *effects) kill(local int) {
	c := e.child(local)
	if c == nil {
		return
	}
	if e.current.trees != nil {
		e.current.trees.kill(local)
	}
	_ = c.SignalGroup(syscall.SIGKILL)
	if c.Ended() {
		e.reapLeader(c)
	}
}

// reapLeader gives a leader's number back. A later search, and the guard's, must know
// since when its group's number proves nothing.
func (e *effects) reapLeader(c *proc.Child) {
	if g := e.current.trees; g != nil && g.reaped == 0 {
		// Unknown means that no group of a reaped leader counts.
		g.reaped, _ = proc.Now()
		if e.guard != nil && g.reaped != 0 {
			// One that does not take it is replaced, and the next one is told.
			_ = e.guard.Reaped(g.reaped)
		}
	}
	c.Reap()
}

// abortSpawn keeps the launch from going on.
func (e *effects) abortSpawn() {
	if e.current != nil && !e.current.aborted {
		e.current.aborted = true
		close(e.current.abort)
	}
}
