package launcher

import (
	"fmt"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"lenslaunch/internal/proc"
)

// A life is how a fake rank behaves.
type life struct {
	ends     time.Duration // by itself after this long; 0: never
	exit     proc.Exit     // then
	obeys    syscall.Signal
	after    time.Duration // from that signal to its end
	with     proc.Exit     // that end
	immortal bool          // not even SIGKILL ends it
}

// Lives that tests share. A worker that saves and exits on SIGTERM is the usual one.
func fails(after time.Duration, n int) life { return life{ends: after, exit: code(n)} }
func succeeds(after time.Duration) life     { return life{ends: after} }
func works() life                           { return life{obeys: syscall.SIGTERM, with: ok()} }
func stubborn() life                        { return life{} }

// fakeMachine is a machine without processes. It runs inside a synctest bubble: its
// clock is the bubble's, and nothing in it waits for anything outside.
type fakeMachine struct {
	attempts [][]life         // lives of the ranks by attempt; the last is repeated
	prepares time.Duration    // how long ledger and port take
	starts   time.Duration    // how long a rank takes to start
	sweeps   time.Duration    // how long the output takes to drain
	failures map[int]*Failure // attempts that cannot begin
	listener Subscriber       // nil: none

	epoch   time.Time
	inputs  chan input
	done    chan struct{}
	running sync.WaitGroup
	timers  map[timerKind]*time.Timer
	ranks   []*fakeRank
	abort   chan struct{}
	story   []string
}

type fakeRank struct {
	life
	signals chan syscall.Signal
	kill    chan struct{}
	gone    bool // its end was told
}

// run runs a loop on the fake machine with these rules, sends signals at their times
// and returns the exit code and the machine with its story.
func (m *fakeMachine) run(t *testing.T, r rules, signals map[time.Duration]syscall.Signal) (code int) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		m.epoch, m.inputs, m.done, m.timers = time.Now(), make(chan input), make(chan struct{}), map[timerKind]*time.Timer{}
		r.ranks = len(m.attempts[0])
		if r.told.Rungs == nil {
			r.told = Ladder{Rungs: []Rung{{Signal: syscall.SIGTERM}}, Kill: 20 * time.Second}
		}
		r.failed, r.killPatience = r.told.Within(15*time.Second), killPatience
		received := make(chan Signal)
		for at, sig := range signals {
			m.later(at, func() {
				select {
				case received <- Signal{Number: sig}:
				case <-m.done:
				}
			})
		}
		l := loop{state: state{rules: r}, inputs: m.inputs, signals: received, machine: m, now: time.Now}
		code = l.run()
		m.say("exit %d", code)
	})
	return code
}

// say adds a line to the story, with the time since the beginning.
func (m *fakeMachine) say(format string, args ...any) {
	m.story = append(m.story, time.Since(m.epoch).String()+" "+fmt.Sprintf(format, args...))
}

// tells compares the lines of the story that begin with one of these words, after
// their time.
func (m *fakeMachine) tells(t *testing.T, words string, want ...string) {
	t.Helper()
	var got []string
	for _, line := range m.story {
		_, text, _ := strings.Cut(line, " ")
		word, _, _ := strings.Cut(text, " ")
		if strings.Contains(" "+words+" ", " "+word+" ") {
			got = append(got, line)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("story (-want +got):\n%s", diff)
	}
}

// note tells of an attempt's identity, as effects do.
func (m *fakeMachine) note(in input) {
	if in, ok := in.(inPrepared); ok && in.err == nil {
		n := in.attempt - 1
		m.tell(AttemptBegan{At: in.at, Attempt: Attempt{Number: n, UUID: "uuid-" + itoa(n), RestartCount: new(int64(n))}})
	}
}

func (m *fakeMachine) close() {
	close(m.done)
	for _, timer := range m.timers {
		timer.Stop()
	}
	m.running.Wait()
}

// answer gives an input to the loop, as effects do.
func (m *fakeMachine) answer(in input) {
	select {
	case m.inputs <- in:
	case <-m.done:
	}
}

// later runs f after d, unless the run is over before.
func (m *fakeMachine) later(d time.Duration, f func()) {
	m.running.Go(func() {
		select {
		case <-time.After(d):
			f()
		case <-m.done:
		}
	})
}

func (m *fakeMachine) act(a action) {
	switch a := a.(type) {
	case doPrepare:
		m.say("prepare %d", a.attempt)
		m.later(m.prepares, func() { m.answer(inPrepared{at: time.Now(), attempt: a.attempt, err: m.failures[a.attempt]}) })
	case doSpawn:
		m.spawn(a.attempt)
	case doAbortSpawn:
		if m.abort != nil { // nothing is being started while an attempt is prepared
			close(m.abort)
		}
		m.abort = make(chan struct{})
	case doSignal:
		m.say("%s>%d", strings.TrimPrefix(proc.SignalName(a.signal), "SIG"), a.local)
		m.ranks[a.local].signals <- a.signal
	case doKill:
		m.kill(a.local)
	case doTimer:
		m.timer(a)
	case doSweep:
		m.say("sweep")
		m.later(m.sweeps, func() { m.answer(inSwept{at: time.Now(), attempt: a.attempt}) })
	case doTell:
		m.tell(a.event)
	}
}

func (m *fakeMachine) timer(a doTimer) {
	if old := m.timers[a.kind]; old != nil {
		old.Stop()
	}
	m.timers[a.kind] = time.AfterFunc(a.after, func() { m.answer(inTimer{at: time.Now(), attempt: a.attempt, kind: a.kind}) })
}

func (m *fakeMachine) kill(local int) {
	r := m.ranks[local]
	if r.gone {
		return // what it left behind is killed, and here it left nothing
	}
	select {
	case r.kill <- struct{}{}:
		m.say("kill %d", local)
	default: // killed before
	}
}

func (m *fakeMachine) tell(e Event) {
	if m.listener != nil {
		m.listener(e)
	}
	switch e := e.(type) {
	case FaultFound:
		m.say("fault rank %d first %v", e.Fault.Rank, e.First)
	case WorkerEnded:
		m.ranks[e.Local].gone = true
		m.say("ended %d %v (%s, %v)", e.Rank, e.Exit, e.Reason, e.Uptime)
	case WorkersStuck:
		m.say("stuck %v", e.Locals)
	case AttemptEnded:
		m.say("attempt %s: %s", e.Outcome, e.Next.Reason)
	case SignalTaken:
		m.say("signal %s: %s", proc.SignalName(e.Signal), e.Action)
	}
}

// spawn starts the ranks one after the other, beside the loop.
func (m *fakeMachine) spawn(attempt int) {
	lives := m.attempts[min(attempt, len(m.attempts))-1]
	m.ranks = nil
	for _, l := range lives {
		// Room for all that a ladder sends: the loop never waits for a rank.
		m.ranks = append(m.ranks, &fakeRank{life: l, signals: make(chan syscall.Signal, 16), kill: make(chan struct{}, 1)})
	}
	m.abort = make(chan struct{})
	abort, started := m.abort, m.ranks
	m.running.Go(func() {
		defer func() { m.answer(inSpawned{at: time.Now(), attempt: attempt}) }()
		for local, r := range started {
			select {
			case <-abort:
				return
			case <-time.After(m.starts):
			}
			m.answer(inStarted{at: time.Now(), attempt: attempt, local: local, pid: 100 + local})
			m.running.Go(func() {
				exit, ended := r.live(m.done)
				if ended {
					m.answer(inExited{at: time.Now(), attempt: attempt, local: local, exit: exit})
				}
			})
		}
	})
}

// live waits for the rank's end; false if the run was over first.
func (r *fakeRank) live(done <-chan struct{}) (proc.Exit, bool) {
	var natural, obeyed <-chan time.Time
	if r.ends > 0 {
		natural = time.After(r.ends)
	}
	for {
		select {
		case <-natural:
			return r.exit, true
		case sig := <-r.signals:
			if sig == r.obeys && obeyed == nil {
				obeyed = time.After(r.after)
			}
		case <-obeyed:
			return r.with, true
		case <-r.kill:
			if !r.immortal {
				return killed(syscall.SIGKILL), true
			}
		case <-done:
			return proc.Exit{}, false
		}
	}
}
