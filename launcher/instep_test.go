package launcher

import (
	"syscall"
	"testing"
	"time"
)

// srun returns the highest code of all tasks: a launcher that was merely stopped must
// not hide the code of the node whose rank failed.
func TestStoppedInAStepExitsOne(t *testing.T) {
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP} {
		s := newScript(t, rules{ranks: 2, inStep: true}).launch()
		s.signal(sig).exit(0, ok()).exit(1, killed(sig)).in(inRestGone{at: s.at(), attempt: 1, local: 1}).silent()
		s.swept().expect("exit 1")
	}
	s := newScript(t, rules{ranks: 1, inStep: true, policy: restarts(1)}).launch().exit(0, code(9)).swept().silent()
	s.signal(syscall.SIGTERM).expect("exit 1")
}

// A rank of its own that failed first gives the code, also when a stop follows.
func TestOwnFailureInAStepKeepsItsCode(t *testing.T) {
	s := newScript(t, rules{ranks: 2, inStep: true}).launch()
	s.exit(0, code(7)).after(20*time.Millisecond).signal(syscall.SIGTERM).exit(1, ok()).silent()
	s.swept().expect("exit 7")
	// Died of another signal than the stop's, or long before it.
	s = newScript(t, rules{ranks: 2, inStep: true}).launch()
	s.exit(0, killed(syscall.SIGSEGV)).signal(syscall.SIGTERM).exit(1, ok()).silent()
	s.swept().expect("exit 139")
	s = newScript(t, rules{ranks: 2, inStep: true}).launch()
	s.exit(0, killed(syscall.SIGTERM)).in(inRestGone{at: s.at(), attempt: 1, local: 0}).silent()
	s.after(echoWait).timer(timerGrace).expect("TERM>1", "timer ladder 15s")
	s.after(2*time.Second).signal(syscall.SIGTERM).exit(1, ok()).silent()
	s.swept().expect("exit 143")
	// The only rank, and no stop follows: it was somebody else's signal.
	s = newScript(t, rules{ranks: 1, inStep: true}).launch()
	s.exit(0, killed(syscall.SIGTERM)).in(inRestGone{at: s.at(), attempt: 1, local: 0}).silent()
	s.after(echoWait).timer(timerGrace).expect("sweep")
	s.swept().expect("exit 143")
}

// Slurm's signal reaches every process of the step (linuxproc, pgid). A rank that dies
// of it before the launcher hears of it was stopped, and what it leaves has time.
func TestEchoOfAStop(t *testing.T) {
	s := newScript(t, rules{ranks: 2, inStep: true}).launch().silent()
	s.exit(0, killed(syscall.SIGTERM)).expect("rest TERM>0", "abort-spawn", "timer grace 250ms")
	s.after(3*time.Millisecond).signal(syscall.SIGTERM).expect("abort-spawn", "rest TERM>0", "TERM>1", "timer ladder 20s")
	s.exit(1, ok()).expect("kill 1")
	s.in(inRestGone{at: s.at(), attempt: 1, local: 0}).expect("kill 0", "sweep")
	s.swept().expect("exit 1")
	if e := s.ended[0]; e.Outcome != OutcomeStopped || len(e.Faults) != 0 || len(e.Stopped) != 2 {
		t.Errorf("%+v", e)
	}
	// Elsewhere a SIGTERM to one rank is a failure of that rank.
	s = newScript(t, rules{ranks: 2}).launch().silent()
	s.exit(0, killed(syscall.SIGTERM)).signal(syscall.SIGTERM).exit(1, ok()).silent()
	s.swept().expect("exit 143")
	if e := s.ended[0]; e.Outcome != OutcomeFailed {
		t.Errorf("%+v", e)
	}
}

// All of them at once, before the launcher has read its own signal.
func TestEchoOfAllRanks(t *testing.T) {
	s := newScript(t, rules{ranks: 2, inStep: true}).launch()
	s.exit(0, killed(syscall.SIGTERM)).exit(1, killed(syscall.SIGTERM))
	s.silent()
	s.in(inRestGone{at: s.at(), attempt: 1, local: 0}).in(inRestGone{at: s.at(), attempt: 1, local: 1}).expect("kill 0", "kill 1")
	s.after(100*time.Millisecond).signal(syscall.SIGTERM).expect("abort-spawn", "sweep")
	s.swept().expect("exit 1")
	if e := s.ended[0]; e.Outcome != OutcomeStopped || len(e.Stopped) != 2 {
		t.Errorf("%+v", e)
	}
}

// A rank that died before the launcher's own signal, and whose end is told after it.
func TestEchoThatIsToldLate(t *testing.T) {
	s := newScript(t, rules{ranks: 2, inStep: true}).launch()
	died := s.at()
	s.after(2 * time.Millisecond).signal(syscall.SIGTERM).silent()
	s.in(inExited{at: died, attempt: 1, local: 0, exit: killed(syscall.SIGTERM)}).expect("rest TERM>0")
	s.in(inRestGone{at: s.at(), attempt: 1, local: 0}).exit(1, ok()).silent()
	s.swept().expect("exit 1")
	// Another signal than the stop's is a failure that came first.
	s = newScript(t, rules{ranks: 2, inStep: true}).launch()
	died = s.at()
	s.after(2 * time.Millisecond).signal(syscall.SIGTERM)
	s.in(inExited{at: died, attempt: 1, local: 0, exit: killed(syscall.SIGSEGV)}).exit(1, ok()).silent()
	s.swept().expect("exit 139")
}

// The time limit of Slurm: TERM, CONT and TERM within 20 ms. The second one says nothing.
func TestTwoTermsOfTheTimeLimit(t *testing.T) {
	s := newScript(t, rules{ranks: 1, inStep: true}).launch().silent()
	s.signal(syscall.SIGTERM).expect("abort-spawn", "TERM>0", "timer ladder 20s")
	s.after(5 * time.Millisecond).signal(syscall.SIGCONT).after(5 * time.Millisecond).signal(syscall.SIGTERM).expect("resume")
	s.after(10*time.Second).exit(0, ok()).silent()
	s.swept().expect("exit 1")
}

// To Slurm the step is over and its GPUs are free: the ranks must end, in order, and
// whoever started the run may start it again.
func TestStepThatHasGone(t *testing.T) {
	s := newScript(t, rules{ranks: 2, inStep: true, policy: restarts(3)}).launch().silent()
	s.in(inStepGone{at: s.at(), pid: 77}).expect("abort-spawn", "TERM>0", "TERM>1", "timer ladder 20s")
	s.in(inStepGone{at: s.at(), pid: 77}).signal(syscall.SIGTERM).expect()
	s.exit(0, ok()).exit(1, code(3)).silent()
	s.swept().expect("exit 75")
	if e := s.ended[0]; e.Outcome != OutcomeStopped {
		t.Errorf("%+v", e)
	}
	s = newScript(t, rules{ranks: 1, inStep: true, policy: restarts(3)}).launch().exit(0, code(9)).swept().silent()
	s.in(inStepGone{at: s.at()}).expect("exit 75")
	// Complete already.
	s = newScript(t, rules{ranks: 1, inStep: true}).launch().exit(0, ok()).silent()
	s.in(inStepGone{at: s.at()}).swept().expect("exit 0")
}
