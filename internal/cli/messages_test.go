package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"lenslaunch/internal/logmux"
	"lenslaunch/internal/proc"
	"lenslaunch/launcher"
)

// told is what a run's events become on stderr.
func told(level slog.Level, format string, events ...launcher.Event) string {
	var out, err bytes.Buffer
	_, stderr := logmux.NewSinks(&out, &err, nil)
	plan := &launcher.Plan{RunID: "run-7"}
	subscriber := messages(newLogger(stderr, format, level), plan, stderr, format)
	for _, e := range events {
		subscriber(e)
	}
	return out.String() + err.String()
}

func failedAttempt() launcher.AttemptEnded {
	return launcher.AttemptEnded{
		Outcome: launcher.OutcomeFailed, Stopped: []int{0, 1},
		Faults: []launcher.Fault{{Local: 2, Rank: 2, Pid: 17, Exit: proc.Exit{Code: 3}}},
		Next:   launcher.Decision{Restart: true, Delay: time.Second, Reason: "restart 1 of 3"},
	}
}

func TestMessages(t *testing.T) {
	count := int64(4)
	term := launcher.Ladder{Rungs: []launcher.Rung{{Signal: syscall.SIGTERM}}, Kill: 20 * time.Second}
	tests := []struct {
		name  string
		event launcher.Event
		info  string // without -v
		debug string // with -v, besides info
	}{
		{"an attempt", launcher.AttemptBegan{Attempt: launcher.Attempt{Number: 2, UUID: "u", MasterPort: 20001}}, "",
			"lenslaunch: attempt begins attempt=2 attempt_uuid=u master_port=20001\n"},
		{"an attempt that goes on from the ledger, and lacks something", launcher.AttemptBegan{
			Attempt:  launcher.Attempt{Number: 1, UUID: "u", MasterPort: 1, RestartCount: &count, Continued: true},
			Warnings: []string{"there is no ledger"},
		}, "lenslaunch: warning: there is no ledger\nlenslaunch: continuing run-7 from the ledger: attempt 1\n",
			"lenslaunch: attempt begins attempt=1 attempt_uuid=u master_port=1 restart_count=4\n"},
		{"a start", launcher.WorkerStarted{Rank: 3, Pid: 17}, "", "lenslaunch: rank started rank=3 pid=17\n"},
		{"an end", launcher.WorkerEnded{Rank: 3, Pid: 17, Reason: launcher.ReasonExit, Uptime: time.Second}, "",
			"lenslaunch: rank ended rank=3 pid=17 exit=\"exit code 0\" reason=exit uptime=1s\n"},
		{"a failure", launcher.FaultFound{Fault: launcher.Fault{Rank: 3, Exit: proc.Exit{Code: 9}}, First: true}, "",
			"lenslaunch: rank failed rank=3 exit=\"exit code 9\" first=true\n"},
		{"told to end", launcher.SignalTaken{Signal: syscall.SIGTERM, Action: "stop"}, "lenslaunch: stopping on SIGTERM\n", ""},
		{"told to end by somebody", launcher.SignalTaken{Signal: syscall.SIGTERM, Action: "stop", From: "pid 7 (slurmstepd, uid 0)"},
			"lenslaunch: stopping on SIGTERM from pid 7 (slurmstepd, uid 0)\n", ""},
		{"told twice", launcher.SignalTaken{Signal: syscall.SIGTERM, Action: "ignored: already ending", From: "the kernel"}, "",
			"lenslaunch: signal signal=SIGTERM action=\"ignored: already ending\" from=\"the kernel\"\n"},
		{"a signal passed on", launcher.SignalTaken{Signal: syscall.SIGUSR1, Action: "forward"}, "",
			"lenslaunch: signal signal=SIGUSR1 action=forward\n"},
		{"a stop", launcher.StopBegan{Ladder: term, Alive: 2}, "",
			"lenslaunch: stopping the ranks alive=2 signal=SIGTERM kill_after=20s\n"},
		{"an escalation", launcher.StopEscalated{Signal: syscall.SIGKILL, Alive: 2},
			"lenslaunch: ranks have not ended in time alive=2 sending=SIGKILL\n", ""},
		{"what cannot be ended", launcher.WorkersStuck{Pids: []int{17}, Locals: []int{3}},
			"lenslaunch: processes do not end even by SIGKILL, and are left pids=[17] local_ranks=[3]\n", ""},
		{"a good end", launcher.AttemptEnded{Outcome: launcher.OutcomeSuccess}, "", "lenslaunch: attempt ended outcome=success\n"},
		{"an end that the ledger lacks", launcher.AttemptEnded{Outcome: launcher.OutcomeSuccess, LedgerProblem: errors.New("disk full")},
			"lenslaunch: warning: the attempt's end is not in the ledger cause=\"disk full\"\n", "lenslaunch: attempt ended outcome=success\n"},
		{"the end", launcher.RunEnded{Outcome: launcher.OutcomeSuccess, Attempts: 1}, "",
			"lenslaunch: run ended outcome=success exit_code=0 attempts=1\n"},
		{"an end without workers", launcher.RunEnded{Outcome: launcher.OutcomeFailed, Code: 75,
			Failure: &launcher.Failure{Code: 75, Problem: "the port is taken", Hint: "end it"}}, "lenslaunch: the port is taken: end it\n",
			"lenslaunch: run ended outcome=failed exit_code=75 attempts=0\n"},
		{"nothing to say", launcher.WorkersStarted{Count: 2}, "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.info, told(slog.LevelInfo, "text", tt.event)); diff != "" {
				t.Errorf("without -v (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.info+tt.debug, told(slog.LevelDebug, "text", tt.event)); diff != "" {
				t.Errorf("with -v (-want +got):\n%s", diff)
			}
		})
	}
}

// The report of a failure is a block whose lines all have our name, also with -q; as
// JSON it is one message.
func TestReportIsShown(t *testing.T) {
	text := told(slog.LevelError, "text", failedAttempt())
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, "lenslaunch: ") {
			t.Errorf("a line is not ours: %q", line)
		}
	}
	for _, want := range []string{"lenslaunch: rank 2 failed: exit code 3", "ranks 0-1 stopped\n", "next: restart 1 of 3 in 1s\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("the report has no %q:\n%s", want, text)
		}
	}
	var message struct {
		Level, Msg, Report string
		Rank               int
		Restart            bool
	}
	line := told(slog.LevelError, "json", failedAttempt())
	if err := json.Unmarshal([]byte(line), &message); err != nil || !isOneLine(line) {
		t.Fatalf("%q: %v", line, err)
	}
	if message.Level != "ERROR" || message.Rank != 2 || !message.Restart || !strings.HasPrefix(message.Report, "rank 2 failed: exit code 3") {
		t.Errorf("%+v", message)
	}
}
