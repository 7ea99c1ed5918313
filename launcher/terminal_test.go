package launcher

import (
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"lenslaunch/internal/proc"
)

// stopped is the stop of the rank that reads the terminal.
func (s *script) stopped(local int, sig syscall.Signal) *script {
	return s.in(inStopped{at: s.at(), attempt: s.state.attempt, local: local, signal: sig})
}

// What only the terminal sends, and only to the rank that has its foreground, is the
// user's wish to end the job: no restart follows.
func TestForegroundRankThatDiesOfTheTerminal(t *testing.T) {
	for sig, want := range map[syscall.Signal]string{
		syscall.SIGINT: "exit 130", syscall.SIGQUIT: "exit 131", syscall.SIGHUP: "exit 129",
	} {
		s := newScript(t, rules{ranks: 1, terminal: true, foreground: 0, policy: restarts(3)}).launch().silent()
		s.exit(0, killed(sig)).silent().swept().expect(want)
		if s.over.Outcome != OutcomeStopped {
			t.Errorf("%v: outcome %v", sig, s.over.Outcome)
		}
	}
}

func TestForegroundRankThatDiesOfAnythingElse(t *testing.T) {
	s := newScript(t, rules{ranks: 1, terminal: true, foreground: 0, policy: restarts(3)}).launch().silent()
	s.exit(0, killed(syscall.SIGSEGV)).silent().swept().expect("timer restart 750ms")
}

func TestBackgroundRankThatDiesOfSIGINTHasFailed(t *testing.T) {
	s := newScript(t, rules{ranks: 2, terminal: true, foreground: 0, policy: restarts(3)}).launch().silent()
	s.exit(1, killed(syscall.SIGINT)).exit(0, ok()).silent().swept().expect("timer restart 750ms")
}

// A rank that handles Ctrl-C by itself ends the job by itself.
func TestForegroundRankThatHandlesCtrlC(t *testing.T) {
	s := newScript(t, rules{ranks: 1, terminal: true, foreground: 0, policy: restarts(3)}).launch().silent()
	s.exit(0, ok()).silent().swept().expect("exit 0")
}

// After the rank with the terminal has died of Ctrl-C the launcher has it, and the
// second one for the ranks that do not end.
func TestSecondCtrlCAfterTheForegroundRank(t *testing.T) {
	s := newScript(t, rules{ranks: 2, terminal: true, foreground: 0}).launch().silent()
	s.exit(0, killed(syscall.SIGINT)).silent()
	s.after(secondCtrlC).signal(syscall.SIGINT).expect("kill 1", "timer patient 5s")
}

func TestSecondCtrlCAfterAnotherSignalDoesNotKill(t *testing.T) {
	s := newScript(t, rules{ranks: 1, terminal: true, foreground: -1}).launch().signal(syscall.SIGTERM).silent()
	s.after(time.Second).signal(syscall.SIGINT).expect()
	s.after(time.Second).signal(syscall.SIGINT).expect()
}

func TestSuspendIsRepeated(t *testing.T) {
	s := newScript(t, rules{ranks: 2}).launch().silent()
	s.signal(syscall.SIGTSTP).expect("suspend")
	// The copy is read when the job has been continued: it must not stop it again.
	s.after(10 * time.Millisecond).signal(syscall.SIGTSTP).expect()
	s.after(time.Hour).signal(syscall.SIGCONT).expect("resume")
	s.after(time.Second).signal(syscall.SIGTSTP).expect("suspend")
}

func TestContinueAloneChangesNothing(t *testing.T) {
	s := newScript(t, rules{ranks: 1}).launch().silent()
	s.signal(syscall.SIGCONT).expect("resume") // of nothing: see effects.resume
	s.signal(syscall.SIGTERM).expect("abort-spawn", "TERM>0", "timer ladder 20s")
	s.signal(syscall.SIGCONT).expect("resume")
}

// Ctrl-Z stopped the rank that has the terminal; the rest of the job follows.
func TestForegroundRankIsStopped(t *testing.T) {
	s := newScript(t, rules{ranks: 2, terminal: true, foreground: 0}).launch().silent()
	s.stopped(0, syscall.SIGTSTP).expect("suspend with group")
	s.stopped(0, syscall.SIGTSTP).expect()
	s.signal(syscall.SIGCONT).expect("resume")
	s.stopped(0, syscall.SIGTTIN).expect("suspend with group") // bg, and it reads
}

func TestStopOfARankThatHasEndedMeanwhile(t *testing.T) {
	s := newScript(t, rules{ranks: 1, terminal: true, foreground: 0}).launch().exit(0, ok()).silent()
	s.stopped(0, syscall.SIGTSTP).expect()
	s.in(inStopped{at: s.at(), attempt: 7, signal: syscall.SIGTSTP}).expect()
}

// A rank that is being stopped in the background and restores the terminal's modes gets
// SIGTTOU. That is no wish to suspend the job.
func TestRankThatTidiesUpInTheBackground(t *testing.T) {
	s := newScript(t, rules{ranks: 1, terminal: true, foreground: 0}).launch().signal(syscall.SIGTERM).silent()
	s.stopped(0, syscall.SIGTTOU).expect()
	s.stopped(0, syscall.SIGTSTP).expect("suspend with group")
}

// `kill %1` of a stopped job sends SIGTERM, then SIGCONT. A rank that stands still
// cannot save.
func TestTermContinuesASuspendedJob(t *testing.T) {
	s := newScript(t, rules{ranks: 1}).launch().signal(syscall.SIGTSTP).silent()
	s.after(time.Hour).signal(syscall.SIGTERM).expect("resume", "abort-spawn", "TERM>0", "timer ladder 20s")
	s.signal(syscall.SIGCONT).expect("resume")
	s.after(20*time.Second).timer(timerLadder).expect("kill 0", "timer patient 5s")
}

// Only process 1 of a container sees this: it is not stopped with its ranks.
func TestFailureContinuesASuspendedJob(t *testing.T) {
	s := newScript(t, rules{ranks: 2}).launch().signal(syscall.SIGTSTP).silent()
	s.after(time.Hour).exit(0, code(3)).expect("reap 0", "abort-spawn", "resume", "TERM>1", "timer ladder 15s")
}

// The ranks had 5 of their 20 s when the job was suspended, and have 15 afterwards. The
// timer runs out while the launcher is stopped, and is read first.
func TestSuspendedTimeIsNotTakenFromTheLadder(t *testing.T) {
	s := newScript(t, rules{ranks: 1}).launch().signal(syscall.SIGTERM).silent()
	s.after(5 * time.Second).signal(syscall.SIGTSTP).expect("suspend")
	s.after(time.Hour).timer(timerLadder).expect()
	s.signal(syscall.SIGCONT).expect("resume", "timer ladder 15s")
	s.after(15*time.Second).timer(timerLadder).expect("kill 0", "timer patient 5s")
}

// A second SIGTERM hurries nobody, but it says that the job is to end.
func TestTermWhileSuspendedInTheLadder(t *testing.T) {
	s := newScript(t, rules{ranks: 1}).launch().signal(syscall.SIGTERM).signal(syscall.SIGTSTP).silent()
	s.after(time.Hour).signal(syscall.SIGTERM).expect("resume", "timer ladder 20s")
}

func TestWantsTerminal(t *testing.T) {
	for sig, want := range map[syscall.Signal]bool{
		syscall.SIGTTIN: true, syscall.SIGTTOU: true, syscall.SIGTSTP: false, syscall.SIGSTOP: false,
	} {
		if wantsTerminal(sig) != want {
			t.Errorf("%v: %v", sig, !want)
		}
	}
}

// Who has no terminal gives and takes nothing, and asks nobody.
func TestFrontWithoutTerminal(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	f := findFront(Console{In: r, OutFile: w, ErrFile: w}, 0)
	if f.term != nil || f.local != -1 {
		t.Errorf("a pipe is a terminal: %+v", f)
	}
	f.give(nil)
	f.take()
	f.over(proc.Exit{})
	e := &effects{front: f}
	if c := e.frontChild(); c != nil {
		t.Errorf("a rank has a terminal that is not there: %v", c)
	}
	e.watchFront()
	e.resume()
}

// suspendWord is what a script writes for a suspension, so that tests tell the two apart.
func suspendWord(a doSuspend) string {
	return strings.TrimSpace(fmt.Sprintf("suspend %s", map[bool]string{true: "with group"}[a.group]))
}
