package launcher

import (
	"errors"
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/otel/trace"

	"lenslaunch/internal/openwork"
	"lenslaunch/journal"
)

func TestReport(t *testing.T) {
	began := time.Unix(1_800_000_000, 0)
	cause := Fault{Local: 1, Rank: 3, Pid: 77, Exit: code(5), At: began.Add(1500 * time.Millisecond)}
	tests := []struct {
		name string
		e    AttemptEnded
		want []string
	}{
		{
			"stderr, consequences and a restart",
			AttemptEnded{
				Outcome: OutcomeFailed, Began: began, Stopped: []int{0, 1, 2, 5},
				Faults: []Fault{cause, {Rank: 6, Exit: code(1)}, {Rank: 4, Exit: code(1)}}, Simultaneous: 2,
				Left:     []Left{{Pid: 9, Command: "nfs\x07", Why: "uninterruptible sleep"}, {Why: "cannot look for it: no /proc"}},
				Next:     Decision{Restart: true, Delay: 730 * time.Millisecond, Reason: "restart 1 of 3"},
				Evidence: Evidence{Stderr: []string{"Traceback", "\x1b[31mValueError\x1b[0m: x"}},
			},
			[]string{
				"rank 3 failed: exit code 5 (local rank 1, pid 77, attempt 0, after 1.5s)",
				"  its last lines of stderr:",
				"    Traceback",
				"    \uFFFD[31mValueError\uFFFD[0m: x",
				"  consequences: rank 6 failed at the same time, within 2 ms; rank 4 failed after it; ranks 0-2,5 stopped",
				"  left behind: pid 9 (nfs\uFFFD): uninterruptible sleep",
				"  left behind: not known, cannot look for it: no /proc",
				"  next: restart 1 of 3 in 730ms",
			},
		},
		{
			"the error file beats stderr; the end of the run",
			AttemptEnded{
				Outcome: OutcomeFailed, Began: began, Faults: []Fault{{Rank: 0, Pid: 9, Exit: killed(syscall.SIGSEGV), At: began}},
				Next:     Decision{Reason: "all 2 restarts are used up"},
				Evidence: Evidence{Message: "line 1\n  line 2\n", Stderr: []string{"noise"}},
			},
			[]string{
				"rank 0 failed: SIGSEGV: invalid memory access (local rank 0, pid 9, attempt 0, after 0s)",
				"  the error it reported:",
				"    line 1",
				"      line 2",
				"  next: no restart: all 2 restarts are used up; exit code 139",
			},
		},
		{
			"told to end in between",
			AttemptEnded{
				Outcome: OutcomeStopped, Began: began, Faults: []Fault{cause}, Told: &Told{Signal: syscall.SIGTERM},
				Next: Decision{Reason: "told to end"},
			},
			[]string{
				"rank 3 failed: exit code 5 (local rank 1, pid 77, attempt 0, after 1.5s)",
				"  it wrote nothing to stderr",
				"  next: no restart: told to end; exit code 143",
			},
		},
		{
			"a rank that could not be started",
			AttemptEnded{
				Outcome: OutcomeFailed, Faults: []Fault{{Rank: 2, Cause: errors.New("no memory"), Exit: code(126)}},
				Next: Decision{Reason: "exit code 126 is fatal"}, Evidence: Evidence{Unseen: true},
			},
			[]string{
				"rank 2 could not be started: no memory",
				"  next: no restart: exit code 126 is fatal; exit code 126",
			},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, new(Plan).Report(tt.e)); diff != "" {
				t.Errorf("report (-want +got):\n%s", diff)
			}
		})
	}
}

func TestWhatAFailureWas(t *testing.T) {
	tests := []struct {
		fault Fault
		want  string
	}{
		{Fault{Exit: code(3)}, "exit code 3"},
		{Fault{Exit: killed(syscall.SIGUSR1)}, "SIGUSR1"},
		{Fault{Exit: killed(syscall.SIGKILL), OOM: "killed by the kernel for memory, cgroup limit 8 GiB, peak 8.0 GiB"},
			"SIGKILL: killed by the kernel for memory, cgroup limit 8 GiB, peak 8.0 GiB"},
		{Fault{Exit: killed(syscall.SIGTERM), Silent: 10 * time.Minute}, "hang: no progress for 10m0s; it was stopped, SIGTERM"},
	}
	for _, tt := range tests {
		if got := tt.fault.what(); got != tt.want {
			t.Errorf("what = %q, want %q", got, tt.want)
		}
	}
}

func TestErrorFile(t *testing.T) {
	tests := []struct{ text, want string }{
		{`{"message":"boom"}`, "boom"},
		{`{"message":{"message":"ValueError: x","extraInfo":{"py_callstack":"Traceback\nValueError: x","timestamp":"1"}}}`, "Traceback\nValueError: x"},
		{`{"message":{"message":"ValueError: x"}}`, "ValueError: x"},
		{`{"message":{"message":"m","errorCode":1,"extraInfo":{}}}`, "m"},
		// Malformed is not fatal, and says nothing.
		{``, ""}, {`{`, ""}, {`[]`, ""}, {`{"message":7}`, ""}, {`{"message":["a"]}`, ""}, {`{}`, ""}, {`null`, ""},
		{`{"message":{"message":3}}`, ""},
		// A worker's text does not steer the reader's terminal.
		{`{"message":"a\u001b[2Jb\u0007"}`, "a\uFFFD[2Jb\uFFFD"},
	}
	for _, tt := range tests {
		if got := parseErrorFile([]byte(tt.text)); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.text, got, tt.want)
		}
	}
	if got := readErrorFile(t.TempDir() + "/none"); got != "" {
		t.Errorf("a file that is not there says %q", got)
	}
}

func FuzzErrorFile(f *testing.F) {
	f.Add([]byte(`{"message":{"message":"x","extraInfo":{"py_callstack":"y"}}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		if got := parseErrorFile(text); strings.ContainsAny(got, "\x1b\x07\x00\r") {
			t.Errorf("%q steers a terminal", got)
		}
	})
}

func TestPlaceholders(t *testing.T) {
	p := place{rank: 12, local: 4, node: 1, attempt: "3", runID: "run-7"}
	for text, want := range map[string]string{
		"plain": "plain", "%r": "12", "a%l/%n/%a/%i": "a4/1/3/run-7", "100%": "100%", "%%r": "%r", "%Y-%m": "%Y-%m", "%": "%", "%%%r": "%12", "": "",
	} {
		if got := p.expand(text); got != want {
			t.Errorf("expand(%q) = %q, want %q", text, got, want)
		}
	}
}

// A span's name is the program's and may hold anything; spans may be in spans in spans.
func TestReportOfOpenSpansIsOneLine(t *testing.T) {
	at := time.Unix(1_800_000_000, 0)
	w := openwork.Work{Rank: 3, End: at.Add(time.Second)}
	for i := range byte(40) {
		w.Spans = append(w.Spans, journal.Span{
			Name: fmt.Sprintf("a\nb\t\x1b[2J%d", i), SpanID: trace.SpanID{i + 1}, Parent: trace.SpanID{i}, Start: at,
		})
	}
	want := "32 more"
	for i := 32; i < 40; i++ {
		want += fmt.Sprintf(" > a b \uFFFD[2J%d (1s)", i)
	}
	if diff := cmp.Diff(want, wasDoing([]openwork.Work{{Rank: 2}, w}, 3)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
