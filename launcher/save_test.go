package launcher

import (
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var saving = rules{
	ranks: 2, save: Save{Signal: syscall.SIGUSR2, Within: time.Minute, Code: 75}, policy: restarts(1),
	forward: []syscall.Signal{syscall.SIGUSR1, syscall.SIGUSR2},
}

func TestSaved(t *testing.T) {
	s := newScript(t, saving).launch().silent()
	s.signal(syscall.SIGUSR2).expect("USR2>0", "USR2>1")
	s.after(time.Second).exit(0, ok()).after(59*time.Second).exit(1, ok()).silent()
	// What it takes to end leftovers and to write output is not the ranks' time.
	s.after(time.Minute).swept().expect("exit 75")
	if s.over.Outcome != OutcomeSaved || s.ended[0].Outcome != OutcomeSaved {
		t.Errorf("outcome %v, %v", s.over.Outcome, s.ended[0].Outcome)
	}
}

func TestSaveRequestLapses(t *testing.T) {
	s := newScript(t, saving).launch().silent()
	s.signal(syscall.SIGUSR2).after(time.Second).exit(0, ok()).after(60*time.Second).exit(1, ok()).silent().swept().expect("exit 0")
	if s.over.Outcome != OutcomeSuccess {
		t.Errorf("outcome %v", s.over.Outcome)
	}
	// The latest request counts.
	s = newScript(t, saving).launch().silent()
	s.signal(syscall.SIGUSR2).after(50 * time.Second).signal(syscall.SIGUSR2).after(50 * time.Second)
	s.exit(0, ok()).exit(1, ok()).silent().swept().expect("exit 75")
}

// A rank that fails has not saved; the request is not the next attempt's.
func TestSaveThenFailure(t *testing.T) {
	s := newScript(t, saving).launch().silent()
	s.signal(syscall.SIGUSR2).exit(0, ok()).exit(1, killed(syscall.SIGUSR2)).silent().swept().silent()
	s.signal(syscall.SIGUSR2).expect()
	s.timer(timerRestart).silent()
	s.launch().silent().exit(0, ok()).exit(1, ok()).silent().swept().expect("exit 0")
}

// Who is told to end is stopped, not saved, in either order.
func TestSaveAndStop(t *testing.T) {
	s := newScript(t, saving).launch().silent()
	s.signal(syscall.SIGUSR2).signal(syscall.SIGTERM).exit(0, ok()).exit(1, ok()).silent().swept().expect("exit 143")
	s = newScript(t, saving).launch().silent()
	s.signal(syscall.SIGTERM).silent().signal(syscall.SIGUSR2).expect()
	s.exit(0, ok()).exit(1, ok()).silent().swept().expect("exit 143")
}

// The signal that is no save request is passed on as ever.
func TestForwardBesideSave(t *testing.T) {
	s := newScript(t, saving).launch().silent()
	s.signal(syscall.SIGUSR1).expect("USR1>0", "USR1>1")
	s.exit(0, ok()).exit(1, ok()).silent().swept().expect("exit 0")
	without := saving
	without.save = Save{Code: 75}
	s = newScript(t, without).launch().silent()
	s.signal(syscall.SIGUSR2).expect("USR2>0", "USR2>1")
	s.exit(0, ok()).exit(1, ok()).silent().swept().expect("exit 0")
}

func TestParseSave(t *testing.T) {
	for text, want := range map[string]Save{
		"USR2":        {Signal: syscall.SIGUSR2, Within: 5 * time.Minute},
		"SIGUSR1:90s": {Signal: syscall.SIGUSR1, Within: 90 * time.Second},
		" winch:1h ":  {Signal: syscall.SIGWINCH, Within: time.Hour},
	} {
		got, err := ParseSave(text)
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%q: %v\n%s", text, err, diff)
		}
	}
	for text, why := range map[string]string{
		"": "signal", "NONE": "signal", "TERM": "use USR1 or USR2", "KILL": "use USR1", "CONT:5s": "use USR1", "SEGV": "use USR1",
		"USR2:": "USR2:10m", "USR2:0s": "USR2:10m", "USR2:-1s": "USR2:10m", "USR2:5s,USR1": "USR2:10m",
	} {
		if _, err := ParseSave(text); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%q: %v, want %q in it", text, err, why)
		}
	}
}

func TestPassed(t *testing.T) {
	c := Config{Forward: []syscall.Signal{syscall.SIGUSR1}}
	if diff := cmp.Diff(c.Forward, c.Passed()); diff != "" {
		t.Error(diff)
	}
	c.Save.Signal = syscall.SIGUSR2
	if diff := cmp.Diff([]syscall.Signal{syscall.SIGUSR1, syscall.SIGUSR2}, c.Passed()); diff != "" {
		t.Error(diff)
	}
	c.Forward = c.Passed()
	if diff := cmp.Diff(c.Forward, c.Passed()); diff != "" {
		t.Error(diff)
	}
}

// A signal that comes between a rank's start and the moment when that is known here
// reaches it; one that starts later is spared: it may have no handler yet.
func TestSignalWhileRanksAreStarted(t *testing.T) {
	s := newScript(t, rules{ranks: 2, forward: []syscall.Signal{syscall.SIGUSR1}})
	s.in(inPrepared{at: s.at(), attempt: 1}).silent()
	started := s.at()
	s.after(time.Millisecond).signal(syscall.SIGUSR1).expect()
	s.in(inStarted{at: started, attempt: 1, local: 0, pid: 100}).expect("USR1>0")
	s.after(time.Millisecond).start(1).expect()
	s.in(inSpawned{at: s.at(), attempt: 1}).signal(syscall.SIGUSR1).expect("USR1>0", "USR1>1")
}
