package launcher

import (
	"syscall"
	"testing"
	"time"
)

const second = time.Second

// The delay is min(max, delay * 2^(k-1)), times 0.5 because the fake's dice are 0.
func TestRestartDelaysInTime(t *testing.T) {
	m := &fakeMachine{attempts: [][]life{{fails(second, 1)}}}
	m.run(t, rules{policy: Policy{MaxRestarts: 5, Delay: 2 * second, DelayMax: 8 * second}}, nil)
	m.tells(t, "prepare exit",
		"0s prepare 1", "2s prepare 2", "5s prepare 3", "10s prepare 4", "15s prepare 5", "20s prepare 6", "21s exit 1")
}

// An attempt that lived as long as the longest delay begins a new row.
func TestHealthyAttemptResetsTheDelay(t *testing.T) {
	m := &fakeMachine{attempts: [][]life{{fails(second, 1)}, {fails(second, 1)}, {fails(8*second, 1)}, {fails(second, 1)}, {succeeds(second)}}}
	m.run(t, rules{policy: Policy{MaxRestarts: 5, Delay: 2 * second, DelayMax: 8 * second}}, nil)
	m.tells(t, "prepare exit", "0s prepare 1", "2s prepare 2", "5s prepare 3", "14s prepare 4", "17s prepare 5", "18s exit 0")
}

// The delay counts from when the old attempt is gone entirely.
func TestDelayBeginsAfterTheSweep(t *testing.T) {
	m := &fakeMachine{attempts: [][]life{{fails(second, 1)}, {succeeds(second)}}, sweeps: 10 * second, prepares: 3 * second}
	m.run(t, rules{policy: Policy{MaxRestarts: 1, Delay: 2 * second, DelayMax: 8 * second}}, nil)
	m.tells(t, "prepare sweep exit", "0s prepare 1", "4s sweep", "15s prepare 2", "19s sweep", "29s exit 0")
}

func TestLadderInTime(t *testing.T) {
	ladder := Ladder{Rungs: []Rung{{syscall.SIGINT, 0}, {syscall.SIGTERM, 5 * second}}, Kill: 20 * second}
	obeysInt := life{obeys: syscall.SIGINT, after: second, with: ok()}
	obeysTerm := life{obeys: syscall.SIGTERM, after: 2 * second, with: code(9)}
	m := &fakeMachine{attempts: [][]life{{obeysInt, obeysTerm, stubborn()}}}
	// Schedulers send SIGTERM two or three times within 20 ms; it hurries nothing.
	m.run(t, rules{told: ladder}, map[time.Duration]syscall.Signal{
		10 * second: syscall.SIGTERM, 10*second + 20*time.Millisecond: syscall.SIGTERM, 14 * second: syscall.SIGINT,
	})
	m.tells(t, "signal INT>0 INT>1 INT>2 TERM>0 TERM>1 TERM>2 kill ended exit",
		"10s signal SIGTERM: stop", "10s INT>0", "10s INT>1", "10s INT>2",
		"10.02s signal SIGTERM: ignored: already ending",
		"11s ended 0 exit code 0 (stopped, 11s)",
		"14s signal SIGINT: ignored: already ending",
		"15s TERM>1", "15s TERM>2",
		"17s ended 1 exit code 9 (stopped, 17s)",
		"30s kill 2", "30s ended 2 SIGKILL (stopped, 30s)",
		"30s exit 143")
}

// Survivors of a failure get --restart-stop-timeout, not --stop-timeout.
func TestSurvivorsAreKilledSooner(t *testing.T) {
	m := &fakeMachine{attempts: [][]life{{fails(3*second, 4), stubborn()}}}
	m.run(t, rules{}, nil)
	m.tells(t, "fault TERM>1 kill exit", "3s fault rank 0 first true", "3s TERM>1", "18s kill 1", "18s exit 4")
}

func TestFailureGraceInTime(t *testing.T) {
	m := &fakeMachine{attempts: [][]life{{fails(3*second, 4), fails(4*second, 5), works(), fails(6*second, 6)}}}
	m.run(t, rules{grace: 2 * second}, nil)
	m.tells(t, "fault TERM>2 TERM>3 ended exit",
		"3s fault rank 0 first true", "3s ended 0 exit code 4 (exit, 3s)",
		"4s fault rank 1 first false", "4s ended 1 exit code 5 (exit, 4s)",
		"5s TERM>2", "5s TERM>3", "5s ended 2 exit code 0 (stopped, 5s)",
		"6s ended 3 exit code 6 (stopped, 6s)", "6s exit 4")
}

// The grace is over as soon as nobody is left to wait for.
func TestGraceIsNotWaitedOut(t *testing.T) {
	m := &fakeMachine{attempts: [][]life{{fails(second, 4), fails(2*second, 5)}}}
	m.run(t, rules{grace: time.Hour}, nil)
	m.tells(t, "exit", "2s exit 4")
}

func TestStopDuringTheDelay(t *testing.T) {
	m := &fakeMachine{attempts: [][]life{{fails(second, 1)}}}
	m.run(t, rules{policy: Policy{MaxRestarts: 5, Delay: time.Hour, DelayMax: time.Hour}}, map[time.Duration]syscall.Signal{10 * time.Minute: syscall.SIGINT})
	m.tells(t, "prepare signal exit", "0s prepare 1", "10m0s signal SIGINT: stop", "10m0s exit 130")
}

// A signal while the ledger's lock is awaited ends the run before the first rank.
func TestStopWhilePreparing(t *testing.T) {
	m := &fakeMachine{attempts: [][]life{{works()}}, prepares: 3 * second}
	m.run(t, rules{}, map[time.Duration]syscall.Signal{second: syscall.SIGHUP})
	m.tells(t, "signal sweep ended exit", "1s signal SIGHUP: stop", "3s sweep", "3s exit 129")
}

// Two attempts in a row that fail before --min-uptime end the run; one does not.
func TestMinUptimeInTime(t *testing.T) {
	policy := Policy{MaxRestarts: 100, Delay: 2 * second, DelayMax: 2 * second, MinUptime: time.Minute}
	m := &fakeMachine{attempts: [][]life{{fails(second, 1)}, {fails(time.Minute, 1)}, {fails(59*second, 1)}, {fails(59*second, 3)}}}
	m.run(t, rules{policy: policy}, nil)
	m.tells(t, "prepare attempt exit",
		"0s prepare 1", "1s attempt failed: restart 1 of 100",
		"2s prepare 2", "1m2s attempt failed: restart 2 of 100",
		"1m3s prepare 3", "2m2s attempt failed: restart 3 of 100",
		"2m3s prepare 4", "3m2s attempt failed: two attempts in a row failed before --min-uptime 1m0s",
		"3m2s exit 3")
}

// The ladder's timer of an attempt that is over must not strike the next one.
func TestTimersOfAnOlderAttempt(t *testing.T) {
	m := &fakeMachine{attempts: [][]life{{fails(second, 1), works()}, {succeeds(time.Minute), succeeds(2 * time.Minute)}}}
	m.run(t, rules{policy: Policy{MaxRestarts: 1, Delay: 2 * second, DelayMax: 2 * second}}, nil)
	m.tells(t, "prepare TERM>0 TERM>1 ended exit", "0s prepare 1",
		"1s ended 0 exit code 1 (exit, 1s)", "1s TERM>1", "1s ended 1 exit code 0 (stopped, 1s)",
		"2s prepare 2", "1m2s ended 0 exit code 0 (exit, 1m0s)", "2m2s ended 1 exit code 0 (exit, 2m0s)", "2m2s exit 0")
}

// A process that SIGKILL does not end is an outcome, not an endless wait.
func TestStuckProcessInTime(t *testing.T) {
	m := &fakeMachine{attempts: [][]life{{fails(second, 7), {immortal: true}}}}
	m.run(t, rules{}, nil)
	m.tells(t, "kill stuck exit", "16s kill 1", "21s stuck [1]", "21s exit 7")
}

// SIGTERM while survivors of a failure are stopped before a restart: they get the
// time of a run that was told to end, from now on.
func TestSignalExtendsTheStop(t *testing.T) {
	m := &fakeMachine{attempts: [][]life{{fails(second, 7), stubborn()}}}
	m.run(t, rules{policy: restarts(3)}, map[time.Duration]syscall.Signal{11 * second: syscall.SIGTERM})
	m.tells(t, "TERM>1 signal kill exit", "1s TERM>1", "11s signal SIGTERM: stop", "31s kill 1", "31s exit 143")
}

// A failure while later ranks are still being started keeps them from starting, and
// stops the one that was just being started.
func TestFailureDuringTheLaunchInTime(t *testing.T) {
	m := &fakeMachine{attempts: [][]life{{fails(2500*time.Millisecond, 7), works(), works(), works()}}, starts: second}
	m.run(t, rules{}, nil)
	m.tells(t, "fault TERM>1 TERM>2 TERM>3 exit", "3.5s fault rank 0 first true", "3.5s TERM>1", "3.5s TERM>2", "3.5s exit 7")
}

func TestForwardedSignalsInTime(t *testing.T) {
	m := &fakeMachine{attempts: [][]life{{succeeds(5 * second), succeeds(10 * second)}}}
	m.run(t, rules{forward: []syscall.Signal{syscall.SIGUSR1}}, map[time.Duration]syscall.Signal{
		2 * second: syscall.SIGUSR1, 7 * second: syscall.SIGUSR1, 8 * second: syscall.SIGWINCH,
	})
	m.tells(t, "USR1>0 USR1>1 signal exit",
		"2s signal SIGUSR1: forward", "2s USR1>0", "2s USR1>1", "7s signal SIGUSR1: forward", "7s USR1>1", "10s exit 0")
}

// The second attempt cannot begin: the run ends with that reason's code.
func TestRestartThatCannotBegin(t *testing.T) {
	m := &fakeMachine{
		attempts: [][]life{{fails(second, 1)}}, prepares: second,
		failures: map[int]*Failure{2: {Code: ExitTryAgain, Problem: "no port"}},
	}
	m.run(t, rules{policy: restarts(3)}, nil)
	m.tells(t, "prepare exit", "0s prepare 1", "2.5s prepare 2", "3.5s exit 75")
}
