package launcher

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"lenslaunch/internal/proc"
)

// script drives step with inputs at chosen times and writes down what it asks for,
// one word per action, so that a test reads like the story that it tells.
type script struct {
	t     *testing.T
	state state
	epoch time.Time
	now   time.Duration
	said  []string
	ended []AttemptEnded
	taken []SignalTaken
	stops []StopBegan
	haste []time.Duration // when it was asked to hasten
	over  *RunEnded
}

func newScript(t *testing.T, r rules) *script {
	t.Helper()
	if r.told.Rungs == nil {
		r.told = Ladder{Rungs: []Rung{{Signal: syscall.SIGTERM}}, Kill: 20 * time.Second}
	}
	if r.failed.Rungs == nil {
		r.failed = r.told.Within(15 * time.Second)
	}
	r.killPatience, r.stopMax = 5*time.Second, 10*time.Minute
	if !r.terminal && r.foreground == 0 {
		r.foreground = -1
	}
	s := &script{t: t, state: state{rules: r}, epoch: time.Unix(1_800_000_000, 0)}
	s.in(inBegin{at: s.at()})
	return s
}

func (s *script) at() time.Time { return s.epoch.Add(s.now) }

// after moves the clock.
func (s *script) after(d time.Duration) *script { s.now += d; return s }

func (s *script) in(in input) *script {
	before := fmt.Sprintf("%+v", s.state)
	next, actions := step(s.state, in)
	if after := fmt.Sprintf("%+v", s.state); before != after {
		s.t.Errorf("step changed its argument:\n%s\n%s", before, after)
	}
	s.state = next
	for _, a := range actions {
		s.note(a)
	}
	return s
}

// note writes an action as a word; events are kept where tests look at them.
func (s *script) note(a action) {
	switch a := a.(type) {
	case doPrepare:
		s.say("prepare %d", a.attempt)
	case doSpawn:
		s.say("spawn")
	case doAbortSpawn:
		s.say("abort-spawn")
	case doSignal:
		s.say("%s>%d", strings.TrimPrefix(proc.SignalName(a.signal), "SIG"), a.local)
	case doReap:
		s.say("reap %d", a.local)
	case doSignalRest:
		s.say("rest %s>%d", strings.TrimPrefix(proc.SignalName(a.signal), "SIG"), a.local)
	case doDump:
		s.say("dump %d", a.local)
	case doAdopt:
		s.say("adopt")
	case doSuspend:
		s.say("%s", suspendWord(a))
	case doResume:
		s.say("resume")
	case doGuard:
		s.say("guard")
	case doKill:
		s.say("kill %d", a.local)
	case doTimer:
		s.say("timer %v %v", [...]string{"grace", "ladder", "patient", "restart"}[a.kind], a.after)
	case doSweep:
		s.say("sweep")
	case doHasten:
		s.haste = append(s.haste, a.at.Sub(s.epoch))
	case doTell:
		switch e := a.event.(type) {
		case AttemptEnded:
			s.ended = append(s.ended, e)
		case SignalTaken:
			s.taken = append(s.taken, e)
		case StopBegan:
			s.stops = append(s.stops, e)
		case RunEnded:
			s.over = &e
			s.say("exit %d", e.Code)
		}
	}
}

func (s *script) say(format string, args ...any) {
	s.said = append(s.said, fmt.Sprintf(format, args...))
}

// expect compares what was asked for since the last expect.
func (s *script) expect(want ...string) *script {
	s.t.Helper()
	if diff := cmp.Diff(want, s.said); diff != "" {
		s.t.Fatalf("actions (-want +got):\n%s", diff)
	}
	s.said = nil
	return s
}

// launch prepares and starts n ranks.
func (s *script) launch() *script {
	s.in(inPrepared{at: s.at(), attempt: s.state.attempt})
	for i := range s.state.rules.ranks {
		s.start(i)
	}
	return s.in(inSpawned{at: s.at(), attempt: s.state.attempt})
}

func (s *script) start(local int) *script {
	return s.in(inStarted{at: s.at(), attempt: s.state.attempt, local: local, pid: 100 + local})
}

func (s *script) exit(local int, e proc.Exit) *script {
	return s.in(inExited{at: s.at(), attempt: s.state.attempt, local: local, exit: e})
}

func (s *script) restGone(local int) *script {
	return s.in(inRestGone{at: s.at(), attempt: s.state.attempt, local: local})
}

func (s *script) moreTime(local int, d time.Duration) *script {
	return s.in(inMoreTime{at: s.at(), attempt: s.state.attempt, local: local, extra: d})
}

func (s *script) signal(sig syscall.Signal) *script { return s.in(inSignal{at: s.at(), signal: sig}) }

func (s *script) timer(k timerKind) *script {
	return s.in(inTimer{at: s.at(), attempt: s.state.attempt, kind: k})
}

func (s *script) swept() *script {
	return s.in(inSwept{at: s.at(), attempt: s.state.attempt, random: 0.5})
}

func ok() proc.Exit                       { return proc.Exit{} }
func code(n int) proc.Exit                { return proc.Exit{Code: n} }
func killed(sig syscall.Signal) proc.Exit { return proc.Exit{Signal: sig} }
func restarts(n int) Policy               { return Policy{MaxRestarts: n, Delay: time.Second, DelayMax: time.Minute} }
func (s *script) silent() *script         { s.said = nil; return s }
func (s *script) ranksOf(fs []Fault) (r []int) {
	for _, f := range fs {
		r = append(r, f.Rank)
	}
	return r
}

func TestAllRanksExitZero(t *testing.T) {
	s := newScript(t, rules{ranks: 2}).expect("prepare 1")
	s.launch().expect("spawn")
	s.exit(1, ok()).expect("reap 1")
	s.exit(0, ok()).expect("reap 0", "sweep")
	s.swept().expect("exit 0")
	if s.over.Outcome != OutcomeSuccess || s.ended[0].Outcome != OutcomeSuccess {
		t.Errorf("outcome %v, %v", s.over.Outcome, s.ended[0].Outcome)
	}
}

func TestFirstFailureDecides(t *testing.T) {
	s := newScript(t, rules{ranks: 3, firstRank: 6}).launch().silent()
	s.after(time.Second).exit(1, code(3))
	s.expect("reap 1", "abort-spawn", "TERM>0", "TERM>2", "timer ladder 15s")
	// Rank 6 handles SIGTERM and exits with a code of its own: a consequence.
	s.after(5*time.Millisecond).exit(0, code(7)).expect("kill 0")
	s.after(time.Millisecond).exit(2, killed(syscall.SIGTERM)).expect("rest TERM>2")
	s.restGone(2).expect("kill 2", "sweep")
	s.swept().expect("exit 3")
	e := s.ended[0]
	if e.Faults[0].Rank != 7 || len(e.Faults) != 1 || e.Outcome != OutcomeFailed {
		t.Errorf("ended %+v", e)
	}
	if diff := cmp.Diff([]int{6, 8}, e.Stopped); diff != "" {
		t.Errorf("stopped ranks:\n%s", diff)
	}
}

// A rank that died before it was asked to stop, but whose end was learnt of later,
// failed by itself: both are reported (launch specification, "First failure decides").
func TestFailureKnownLaterIsAFailure(t *testing.T) {
	s := newScript(t, rules{ranks: 2}).launch().after(time.Second).silent()
	died := s.at()
	s.after(time.Millisecond).exit(0, code(1)).silent()
	s.in(inExited{at: died, attempt: 1, local: 1, exit: killed(syscall.SIGSEGV)}).expect("kill 1", "sweep")
	s.swept().expect("exit 139")
	if diff := cmp.Diff([]int{1, 0}, s.ranksOf(s.ended[0].Faults)); diff != "" {
		t.Errorf("failed ranks:\n%s", diff)
	}
}

func TestSignalledWorkerGives128PlusSignal(t *testing.T) {
	s := newScript(t, rules{ranks: 1}).launch()
	s.exit(0, killed(syscall.SIGSEGV)).silent().swept().expect("exit 139")
}

func TestRestartAfterFailure(t *testing.T) {
	s := newScript(t, rules{ranks: 2, policy: restarts(2)}).launch().silent()
	s.exit(0, code(1)).exit(1, killed(syscall.SIGTERM)).restGone(1).silent()
	s.swept().expect("timer restart 750ms")
	if !s.ended[0].Next.Restart {
		t.Error("the event does not announce the restart")
	}
	s.after(750 * time.Millisecond).timer(timerRestart).expect("prepare 2")
	s.launch().expect("spawn")
	s.exit(0, ok()).exit(1, ok()).silent().swept().expect("exit 0")
}

// A stop that meets nobody is told of when a rank comes that was just being started, and
// once: whoever tells of the stop would otherwise not know of it.
func TestStopThatMeetsRanksLater(t *testing.T) {
	s := newScript(t, rules{ranks: 3})
	s.in(inPrepared{at: s.at(), attempt: 1}).start(0).exit(0, ok())
	s.after(time.Second).in(inSignal{at: s.at(), signal: syscall.SIGTERM})
	began := s.at()
	if len(s.stops) != 0 {
		t.Errorf("told of a stop of nobody: %+v", s.stops)
	}
	s.after(time.Second).start(1).start(2)
	if len(s.stops) != 1 || s.stops[0].Alive != 1 || !s.stops[0].At.Equal(began) {
		t.Errorf("%+v", s.stops)
	}
}

// A late event of the first attempt changes nothing in the second.
func TestEventsOfAnOlderAttemptAreIgnored(t *testing.T) {
	s := newScript(t, rules{ranks: 1, policy: restarts(5)}).launch()
	s.exit(0, code(1)).swept().timer(timerRestart).launch().silent()
	for _, in := range []input{
		inExited{at: s.at(), attempt: 1, local: 0, exit: code(9)},
		inTimer{at: s.at(), attempt: 1, kind: timerLadder},
		inTimer{at: s.at(), attempt: 1, kind: timerRestart},
		inSwept{at: s.at(), attempt: 1},
		inSpawned{at: s.at(), attempt: 1},
		inStarted{at: s.at(), attempt: 1, local: 0, pid: 1},
		inPrepared{at: s.at(), attempt: 1},
	} {
		s.in(in)
	}
	s.expect()
	s.exit(0, ok()).swept().expect("reap 0", "sweep", "exit 0")
}

func TestToldToEnd(t *testing.T) {
	for sig, want := range map[syscall.Signal]string{
		syscall.SIGTERM: "exit 143", syscall.SIGINT: "exit 130", syscall.SIGHUP: "exit 129", syscall.SIGQUIT: "exit 131",
	} {
		// Even if all ranks then exit 0, and never with a restart.
		s := newScript(t, rules{ranks: 2, policy: restarts(3)}).launch().silent()
		s.signal(sig).silent()
		s.exit(0, ok()).exit(1, ok()).silent().swept().expect(want)
		if s.over.Outcome != OutcomeStopped {
			t.Errorf("%v: outcome %v", sig, s.over.Outcome)
		}
	}
}

func TestStopLadderLeadersThenKill(t *testing.T) {
	ladder := Ladder{Rungs: []Rung{{syscall.SIGINT, 0}, {syscall.SIGTERM, 5 * time.Second}}, Kill: 20 * time.Second}
	s := newScript(t, rules{ranks: 2, told: ladder}).launch().silent()
	s.signal(syscall.SIGTERM).expect("abort-spawn", "INT>0", "INT>1", "timer ladder 5s")
	s.after(time.Second).exit(0, ok()).expect("kill 0")
	s.after(4*time.Second).timer(timerLadder).expect("TERM>1", "timer ladder 15s")
	s.after(15*time.Second).timer(timerLadder).expect("kill 1", "timer patient 5s")
	s.exit(1, killed(syscall.SIGKILL)).expect("kill 1", "sweep")
	s.swept().expect("exit 143")
}

// Schedulers send SIGTERM two or three times within 20 ms (cluster specification).
func TestSecondSignalDoesNotHurry(t *testing.T) {
	s := newScript(t, rules{ranks: 1}).launch().signal(syscall.SIGTERM).silent()
	s.after(10 * time.Millisecond).signal(syscall.SIGTERM).signal(syscall.SIGINT).expect()
	s.exit(0, ok()).silent().swept().expect("exit 143")
}

func TestSignalDuringTheStopOfAFailure(t *testing.T) {
	t.Run("restart was due: the signal decides", func(t *testing.T) {
		s := newScript(t, rules{ranks: 2, policy: restarts(1)}).launch().silent()
		s.exit(0, code(4)).silent()
		s.after(10 * time.Second).signal(syscall.SIGTERM)
		// The survivor gets the longer time of a run that was told to end.
		s.expect("timer ladder 20s")
		s.exit(1, ok()).silent().swept().expect("exit 143")
		if s.ended[0].Next.Restart {
			t.Error("a restart was announced")
		}
	})
	t.Run("failure was final: the cause decides", func(t *testing.T) {
		s := newScript(t, rules{ranks: 2}).launch().silent()
		s.exit(0, code(4)).signal(syscall.SIGTERM).exit(1, ok()).silent().swept().expect("exit 4")
	})
}

func TestSignalEndsTheRestartDelay(t *testing.T) {
	s := newScript(t, rules{ranks: 1, policy: restarts(1)}).launch()
	s.exit(0, code(1)).swept().silent()
	s.signal(syscall.SIGINT).expect("exit 130")
}

func TestSignalWhilePreparing(t *testing.T) {
	s := newScript(t, rules{ranks: 1}).silent()
	// Preparing may wait for another node's name: it is not waited for.
	s.signal(syscall.SIGTERM).expect("abort-spawn")
	s.in(inPrepared{at: s.at(), attempt: 1}).expect("sweep")
	s.swept().expect("exit 143")
}

func TestSignalAfterSuccessComesTooLate(t *testing.T) {
	s := newScript(t, rules{ranks: 1}).launch().exit(0, ok()).silent()
	s.signal(syscall.SIGTERM).swept().expect("exit 0")
}

// A signal while the output is drained does not change how the run has ended, and still
// bounds the wait for a console that nobody reads.
func TestSignalDuringTheSweepHastensIt(t *testing.T) {
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGQUIT} {
		for end, want := range map[proc.Exit]string{ok(): "exit 0", code(3): "exit 3"} {
			s := newScript(t, rules{ranks: 1}).launch().exit(0, end).silent()
			s.after(2 * time.Second).signal(sig).swept().expect(want)
			if diff := cmp.Diff([]time.Duration{2 * time.Second}, s.haste); diff != "" {
				t.Errorf("%v after %v:\n%s", sig, end, diff)
			}
		}
	}
}

func TestAttemptThatCannotBegin(t *testing.T) {
	s := newScript(t, rules{ranks: 1}).silent()
	failure := usage("the ledger is corrupt", "")
	s.in(inPrepared{at: s.at(), attempt: 1, err: failure}).expect("exit 2")
	if s.over.Failure != failure {
		t.Errorf("failure %v", s.over.Failure)
	}
}

func TestForwardedSignalLeavesTheJobRunning(t *testing.T) {
	s := newScript(t, rules{ranks: 2, forward: []syscall.Signal{syscall.SIGUSR1}}).launch().silent()
	s.signal(syscall.SIGUSR1).expect("USR1>0", "USR1>1")
	s.exit(0, ok()).silent().signal(syscall.SIGUSR1).expect("USR1>1")
	s.signal(syscall.SIGWINCH).expect() // neither forwarded nor a reason to end
}

// Ranks have a moment for the stack dump before the ladder begins.
// Whatever becomes of a signal, its sender is told with it. Nobody has sent the one that
// the end of a rank tells of.
func TestSenderOfASignalIsTold(t *testing.T) {
	s := newScript(t, rules{ranks: 1, terminal: true, foreground: 0, forward: []syscall.Signal{syscall.SIGUSR1}}).launch()
	var want []SignalTaken
	for _, sent := range []struct {
		signal syscall.Signal
		action string
	}{
		{syscall.SIGUSR1, "forward"}, {syscall.SIGTSTP, "suspend"}, {syscall.SIGTSTP, "ignored: already suspended"},
		{syscall.SIGCONT, "resume"}, {syscall.SIGINT, "stop"}, {syscall.SIGTERM, "ignored: already ending"}, {syscall.SIGINT, "kill at once"},
	} {
		s.after(time.Second)
		from := fmt.Sprintf("the sender at %v", s.now)
		s.in(inSignal{at: s.at(), signal: sent.signal, from: from})
		want = append(want, SignalTaken{At: s.at(), Signal: sent.signal, Action: sent.action, From: from})
	}
	if diff := cmp.Diff(want, s.taken); diff != "" {
		t.Error(diff)
	}
	s = newScript(t, rules{ranks: 1, terminal: true, foreground: 0}).launch().exit(0, killed(syscall.SIGINT))
	if diff := cmp.Diff([]SignalTaken{{At: s.at(), Signal: syscall.SIGINT, Action: "stop"}}, s.taken); diff != "" {
		t.Error(diff)
	}
}

func TestQuitIsPassedOnBeforeTheLadder(t *testing.T) {
	s := newScript(t, rules{ranks: 2}).launch().silent()
	s.signal(syscall.SIGQUIT).expect("abort-spawn", "QUIT>0", "QUIT>1", "timer grace 1s")
	s.exit(0, killed(syscall.SIGQUIT)).expect("kill 0") // no handler: it was stopped, and did not fail
	s.after(time.Second).timer(timerGrace).expect("TERM>1", "timer ladder 20s")
	s.exit(1, ok()).silent().swept().expect("exit 131")
	if len(s.ended[0].Faults) != 0 {
		t.Errorf("faults %+v", s.ended[0].Faults)
	}
}

func TestFailureGrace(t *testing.T) {
	s := newScript(t, rules{ranks: 3, grace: 2 * time.Second}).launch().silent()
	s.exit(0, code(1)).expect("reap 0", "abort-spawn", "timer grace 2s")
	s.exit(1, code(1)).expect("reap 1")
	s.after(2*time.Second).timer(timerGrace).expect("TERM>2", "timer ladder 15s")
	s.exit(2, ok()).silent().swept().expect("exit 1")
	if diff := cmp.Diff([]int{0, 1}, s.ranksOf(s.ended[0].Faults)); diff != "" {
		t.Errorf("failed ranks:\n%s", diff)
	}
}

// The failure of one rank can be known before the start of the next one is: that one
// gets its grace all the same.
func TestGraceOfARankThatIsJustStarting(t *testing.T) {
	s := newScript(t, rules{ranks: 2, grace: time.Minute})
	s.in(inPrepared{at: s.at(), attempt: 1}).start(0).silent()
	s.exit(0, code(3)).expect("reap 0", "abort-spawn", "timer grace 1m0s")
	s.start(1).expect()
	s.in(inSpawned{at: s.at(), attempt: 1}).expect()
	s.exit(1, code(4)).silent().swept().expect("exit 3")
}

// Nobody is left to have a grace: the launch ends with the failure.
func TestGraceOfNobody(t *testing.T) {
	s := newScript(t, rules{ranks: 2, grace: time.Minute})
	s.in(inPrepared{at: s.at(), attempt: 1}).start(0).silent()
	s.exit(0, code(3)).silent()
	s.in(inSpawned{at: s.at(), attempt: 1}).expect("sweep")
	s.swept().expect("exit 3")
}

func TestGraceEndsWithTheLastRank(t *testing.T) {
	s := newScript(t, rules{ranks: 2, grace: time.Hour}).launch().silent()
	s.exit(0, code(1)).exit(1, code(2)).silent().swept().expect("exit 1")
}

// Ranks that end before the last one is started must be seen (ompi#10586).
func TestRanksThatEndDuringTheLaunch(t *testing.T) {
	s := newScript(t, rules{ranks: 3})
	s.in(inPrepared{at: s.at(), attempt: 1}).start(0).silent()
	s.exit(0, ok()).expect("reap 0")
	s.start(1).exit(1, ok()).start(2).exit(2, ok()).silent()
	s.in(inSpawned{at: s.at(), attempt: 1}).expect("sweep")
}

func TestFailureDuringTheLaunchStopsIt(t *testing.T) {
	s := newScript(t, rules{ranks: 4})
	s.in(inPrepared{at: s.at(), attempt: 1}).start(0).start(1).silent()
	s.exit(0, code(5)).expect("reap 0", "abort-spawn", "TERM>1", "timer ladder 15s")
	// The launch was already starting rank 2: it is asked at once.
	s.start(2).expect("TERM>2", "timer ladder 15s")
	s.in(inSpawned{at: s.at(), attempt: 1}).expect()
	s.exit(1, ok()).exit(2, ok()).expect("kill 1", "kill 2", "sweep")
	s.swept().expect("exit 5")
}

func TestRankThatCannotBeStarted(t *testing.T) {
	for _, tt := range []struct {
		cause error
		want  string
	}{
		{&fs.PathError{Op: "fork/exec", Path: "/x", Err: syscall.ENOENT}, "exit 127"},
		{&fs.PathError{Op: "fork/exec", Path: "/x", Err: syscall.EACCES}, "exit 126"},
		{errors.New("resource temporarily unavailable"), "exit 126"},
	} {
		s := newScript(t, rules{ranks: 3})
		s.in(inPrepared{at: s.at(), attempt: 1}).start(0).silent()
		s.in(inNotStarted{at: s.at(), attempt: 1, local: 1, cause: tt.cause}).expect("abort-spawn", "TERM>0", "timer ladder 15s")
		s.in(inSpawned{at: s.at(), attempt: 1}).expect()
		s.exit(0, killed(syscall.SIGTERM)).restGone(0).silent().swept().expect(tt.want)
	}
}

// The very first rank cannot be started: nobody is left to wait for.
func TestNothingCouldBeStarted(t *testing.T) {
	s := newScript(t, rules{ranks: 2})
	s.in(inPrepared{at: s.at(), attempt: 1}).silent()
	s.in(inNotStarted{at: s.at(), attempt: 1, local: 0, cause: fs.ErrNotExist}).silent()
	s.in(inSpawned{at: s.at(), attempt: 1}).expect("sweep")
	s.swept().expect("exit 127")
}

func TestProcessThatSurvivesKillIsReportedNotAwaited(t *testing.T) {
	s := newScript(t, rules{ranks: 1}).launch().signal(syscall.SIGTERM).silent()
	s.after(20*time.Second).timer(timerLadder).expect("kill 0", "timer patient 5s")
	s.after(5 * time.Second).timer(timerPatient).expect("sweep")
	s.swept().expect("exit 143")
}

func TestLadderTimerAfterTheLastRankIsIgnored(t *testing.T) {
	s := newScript(t, rules{ranks: 1}).launch().signal(syscall.SIGTERM).exit(0, ok()).silent()
	s.after(time.Minute).timer(timerLadder).timer(timerGrace).timer(timerPatient).timer(timerRestart).expect()
}

// A wrapper without a handler dies of the stop signal; the program below it gets the
// signal and the rest of the time (ompi#3337: the wrapper killed, the program lives).
func TestRestOfAWrapperHasTheRestOfTheTime(t *testing.T) {
	s := newScript(t, rules{ranks: 1}).launch().signal(syscall.SIGTERM).silent()
	s.exit(0, killed(syscall.SIGTERM)).expect("rest TERM>0")
	s.after(3*time.Second).restGone(0).expect("kill 0", "sweep")
	s.swept().expect("exit 143")
}

func TestRestOfAWrapperIsKilledWhenTheTimeIsOver(t *testing.T) {
	ladder := Ladder{Rungs: []Rung{{syscall.SIGINT, 0}, {syscall.SIGTERM, 5 * time.Second}}, Kill: 20 * time.Second}
	s := newScript(t, rules{ranks: 1, told: ladder}).launch().signal(syscall.SIGTERM).silent()
	s.exit(0, killed(syscall.SIGINT)).expect("rest INT>0")
	// The next rung goes to what is left too.
	s.after(5*time.Second).timer(timerLadder).expect("rest TERM>0", "timer ladder 15s")
	s.after(15*time.Second).timer(timerLadder).expect("kill 0", "timer patient 5s", "sweep")
	s.restGone(0).expect()
}

// A leader that ended by code, or by another signal, takes what is left with it.
func TestLeaderThatHandledTheStopLeavesNothing(t *testing.T) {
	for _, e := range []proc.Exit{ok(), code(1), killed(syscall.SIGABRT)} {
		s := newScript(t, rules{ranks: 1}).launch().signal(syscall.SIGTERM).silent()
		s.exit(0, e).expect("kill 0", "sweep")
	}
}

// EXTEND_TIMEOUT_USEC of a rank that is saving (issue 3, hang detection).
func TestRankThatAsksForMoreTime(t *testing.T) {
	s := newScript(t, rules{ranks: 2}).launch().signal(syscall.SIGTERM).silent()
	s.after(15*time.Second).moreTime(1, 30*time.Second).expect("timer ladder 5s")
	s.after(5*time.Second).timer(timerLadder).expect("kill 0", "timer patient 5s", "timer ladder 25s")
	s.exit(0, killed(syscall.SIGKILL)).silent()
	s.after(10*time.Second).moreTime(1, time.Hour).expect("timer ladder 9m30s") // up to 10 minutes in all
	s.exit(1, ok()).expect("kill 1", "sweep")
}

func TestMoreTimeWithoutAStopChangesNothing(t *testing.T) {
	s := newScript(t, rules{ranks: 1}).launch().silent()
	s.moreTime(0, time.Minute).expect()
}

func TestSecondCtrlCAtATerminalKills(t *testing.T) {
	s := newScript(t, rules{ranks: 2, terminal: true, foreground: -1}).launch().silent()
	s.signal(syscall.SIGINT).silent()
	s.after(499 * time.Millisecond).signal(syscall.SIGINT).expect() // a key that bounces
	s.after(time.Millisecond).signal(syscall.SIGINT).expect("kill 0", "kill 1", "timer patient 5s")
	s.exit(0, killed(syscall.SIGKILL)).exit(1, killed(syscall.SIGKILL)).silent().swept().expect("exit 130")
}

func TestSecondCtrlCWithoutATerminalDoesNot(t *testing.T) {
	s := newScript(t, rules{ranks: 1}).launch().signal(syscall.SIGINT).silent()
	s.after(time.Second).signal(syscall.SIGINT).expect()
}

// Ctrl-C reached the rank that has the terminal, not the launcher.
func TestForegroundRankThatDiesOfCtrlC(t *testing.T) {
	s := newScript(t, rules{ranks: 2, terminal: true, foreground: 0, policy: restarts(3)}).launch().silent()
	s.exit(0, killed(syscall.SIGINT)).expect("reap 0", "abort-spawn", "TERM>1", "timer ladder 20s")
	s.exit(1, ok()).silent().swept().expect("exit 130")
	if s.over.Outcome != OutcomeStopped {
		t.Errorf("outcome %v", s.over.Outcome)
	}
}

func TestSuspendAndResume(t *testing.T) {
	s := newScript(t, rules{ranks: 1}).launch().silent()
	s.signal(syscall.SIGTSTP).signal(syscall.SIGCONT).signal(syscall.SIGCHLD).expect("suspend", "resume", "adopt")
}

func TestGuardIsReplaced(t *testing.T) {
	s := newScript(t, rules{ranks: 1}).launch().silent()
	s.in(inGuardGone{at: s.at(), cause: "SIGKILL"}).expect("guard")
	s.in(inGuardGone{at: s.at(), cause: "SIGKILL", last: true}).expect()
}

// A restart beside processes of the old attempt would fight with them for GPUs.
func TestNoRestartBesideWhatCouldNotBeEnded(t *testing.T) {
	s := newScript(t, rules{ranks: 1, policy: restarts(1)}).launch().exit(0, code(3)).silent()
	s.in(inSwept{at: s.at(), attempt: 1, left: []Left{{Pid: 7, Why: "uninterruptible"}}}).expect("exit 3")
	if len(s.ended[0].Left) != 1 || !strings.Contains(s.ended[0].Next.Reason, "not everything") {
		t.Errorf("ended %+v", s.ended[0])
	}
}

func (s *script) hang(local int, silent time.Duration) *script {
	return s.in(inHang{at: s.at(), attempt: s.state.attempt, local: local, silent: silent})
}

func TestHungRankIsAFailure(t *testing.T) {
	s := newScript(t, rules{ranks: 2, policy: restarts(1)}).launch().silent()
	s.after(time.Hour).hang(1, 10*time.Minute).expect("abort-spawn", "dump 1", "timer grace 30s")
	s.in(inDumped{at: s.at(), attempt: 1}).expect("TERM>0", "TERM>1", "timer ladder 15s")
	s.exit(0, ok()).silent()
	// It takes SIGTERM well and exits 0: it hung all the same.
	s.exit(1, ok()).expect("kill 1", "sweep")
	s.swept().expect("timer restart 750ms")
	f := s.ended[0].Faults
	if len(f) != 1 || f[0].Rank != 1 || f[0].Silent != 10*time.Minute || f[0].Exit != code(1) {
		t.Errorf("faults %+v", f)
	}
}

func TestHookOfAHungRankIsBounded(t *testing.T) {
	s := newScript(t, rules{ranks: 1}).launch().silent()
	s.hang(0, time.Minute).silent().after(30*time.Second).timer(timerGrace).expect("TERM>0", "timer ladder 15s")
	s.in(inDumped{at: s.at(), attempt: 1}).expect() // too late to matter
	s.after(15*time.Second).timer(timerLadder).expect("kill 0", "timer patient 5s")
	s.exit(0, killed(syscall.SIGKILL)).silent().swept().expect("exit 137")
}

func TestHangAfterTheRankEndedIsNone(t *testing.T) {
	s := newScript(t, rules{ranks: 2}).launch().exit(0, ok()).silent()
	s.hang(0, time.Minute).expect()
}

// Ranks that fail at the same time as the first are failures, though we had asked
// them to stop by the time that we learnt of it.
func TestSimultaneousFailures(t *testing.T) {
	s := newScript(t, rules{ranks: 4}).launch().after(time.Second).silent()
	s.exit(2, code(1)).after(time.Millisecond).exit(1, killed(syscall.SIGSEGV)).after(500*time.Microsecond).exit(3, killed(syscall.SIGTERM))
	s.after(18*time.Millisecond).exit(0, code(1)).restGone(3).silent()
	s.swept().expect("exit 139")
	e := s.ended[0]
	if diff := cmp.Diff([]int{1, 2}, s.ranksOf(e.Faults)); diff != "" || e.Simultaneous != 2 {
		t.Errorf("failed ranks, %d simultaneous:\n%s", e.Simultaneous, diff)
	}
	if diff := cmp.Diff([]int{0, 3}, e.Stopped); diff != "" {
		t.Errorf("stopped ranks:\n%s", diff)
	}
}

func TestOrderOfFailures(t *testing.T) {
	epoch := time.Unix(1_800_000_000, 0)
	at := func(rank int, ms float64, e proc.Exit) Fault {
		return Fault{Local: rank, Rank: rank, Exit: e, At: epoch.Add(time.Duration(ms * float64(time.Millisecond)))}
	}
	tests := []struct {
		name     string
		faults   []Fault
		reported map[int]time.Time
		want     []int
		same     int
	}{
		{"none", nil, nil, nil, 0},
		{"order of time", []Fault{at(0, 9, code(1)), at(5, 0, code(1)), at(3, 5, code(1))}, nil, []int{5, 3, 0}, 1},
		{"lowest rank", []Fault{at(5, 0, code(1)), at(3, 2, code(1)), at(0, 2.1, code(1))}, nil, []int{3, 5, 0}, 2},
		{"the kernel's order in one look", []Fault{at(5, 0, code(1)), at(3, 0.001, code(1)), at(0, 0.002, code(1))}, nil, []int{5, 3, 0}, 3},
		{"lowest rank of two looks", []Fault{at(5, 0, code(1)), at(2, 0.001, code(1)), at(4, 1, code(1)), at(3, 1.001, code(1))}, nil, []int{4, 3, 5, 2}, 4},
		{"a signal before a code", []Fault{at(1, 0, code(1)), at(3, 1, killed(syscall.SIGSEGV))}, nil, []int{3, 1}, 2},
		{"an error file before all", []Fault{at(1, 0, code(1)), at(3, 1, killed(syscall.SIGSEGV)), at(4, 1, code(1))},
			map[int]time.Time{4: epoch}, []int{4, 3, 1}, 3},
		{"the earlier error file", []Fault{at(1, 0, code(1)), at(4, 1, code(1))},
			map[int]time.Time{4: epoch, 1: epoch.Add(time.Microsecond)}, []int{4, 1}, 2},
		{"a late error file does not matter", []Fault{at(1, 0, code(1)), at(4, 20, code(1))}, map[int]time.Time{4: epoch}, []int{1, 4}, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, same := order(tt.faults, func(local int) time.Time { return tt.reported[local] })
			var ranks []int
			for _, f := range got {
				ranks = append(ranks, f.Rank)
			}
			if diff := cmp.Diff(tt.want, ranks); diff != "" || same != tt.same {
				t.Errorf("%d simultaneous, want %d; order:\n%s", same, tt.same, diff)
			}
		})
	}
}

func TestKilledForMemory(t *testing.T) {
	s := newScript(t, rules{ranks: 1}).launch().silent()
	s.in(inExited{at: s.at(), attempt: 1, local: 0, exit: killed(syscall.SIGKILL), oom: "limit 8 GiB"}).silent()
	s.swept().expect("exit 137")
	if s.ended[0].Faults[0].OOM != "limit 8 GiB" {
		t.Errorf("faults %+v", s.ended[0].Faults)
	}
}
