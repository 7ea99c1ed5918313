package notify

import (
	"math"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

func TestParse(t *testing.T) {
	tests := []struct {
		name, text string
		want       Message
	}{
		{"nothing", "", Message{}},
		{"ready", "READY=1", Message{Ready: true}},
		{"only 1 is yes", "READY=0\nSTOPPING=yes\nRELOADING=\nWATCHDOG=2", Message{}},
		{"all in one", "READY=1\nRELOADING=1\nSTOPPING=1\nWATCHDOG=1\n",
			Message{Ready: true, Reloading: true, Stopping: true, Watchdog: true}},
		{"watchdog pulled by hand", "WATCHDOG=trigger", Message{Trigger: true}},
		{"a status keeps its equal signs", "STATUS=loss=0.5 step=3", Message{HasStatus: true, Status: "loss=0.5 step=3"}},
		{"an empty status is one", "STATUS=", Message{HasStatus: true}},
		{"more time", "EXTEND_TIMEOUT_USEC=1500000", Message{Extend: 1500 * time.Millisecond}},
		{"no negative time", "EXTEND_TIMEOUT_USEC=-1", Message{}},
		{"infinity is the longest duration", "EXTEND_TIMEOUT_USEC=18446744073709551615", Message{Extend: math.MaxInt64}},
		{"the first that does not fit is too", "EXTEND_TIMEOUT_USEC=9223372036854776", Message{Extend: math.MaxInt64}},
		{"the last that fits", "EXTEND_TIMEOUT_USEC=9223372036854775", Message{Extend: 9223372036854775000}},
		{"beyond 64 bits is no number", "EXTEND_TIMEOUT_USEC=18446744073709551616", Message{}},
		{"a new period", "WATCHDOG_USEC=20000000", Message{WatchdogPeriod: 20 * time.Second}},
		{"main pid", "MAINPID=4711", Message{MainPID: 4711}},
		{"no pid", "MAINPID=-1\nERRNO=x", Message{}},
		{"a pid beyond pid_t", "MAINPID=2147483648", Message{}},
		{"errno", "ERRNO=2", Message{Errno: 2}},
		{"unknown keys and noise", "BARRIER=1\nX_LOSS=3\nnonsense\n=1\n\n\nREADY=1", Message{Ready: true}},
		{"keys are exact", "ready=1\n READY=1\nREADY =1\nREADY= 1", Message{}},
		{"the first of two counts", "STATUS=a\nSTATUS=b\nWATCHDOG=trigger\nWATCHDOG=1",
			Message{HasStatus: true, Status: "a", Trigger: true}},
		{"the NUL of a C string", "READY=1\x00", Message{Ready: true}},
		{"a NUL inside", "READY=1\n\x00STATUS=x", Message{}},
		{"invalid UTF-8", "STATUS=\xffstep\xc3", Message{HasStatus: true, Status: "\ufffdstep\ufffd"}},
		{"no escape sequence reaches a terminal", "STATUS=\x1b[2Jgone\r\u0085",
			Message{HasStatus: true, Status: "\ufffd[2Jgone\ufffd\ufffd"}},
		{"as long as may be", "STATUS=" + strings.Repeat("x", MaxMessage-7),
			Message{HasStatus: true, Status: strings.Repeat("x", MaxMessage-7)}},
		{"longer", "STATUS=" + strings.Repeat("x", MaxMessage-6), Message{}},
		{"longer by what would be cut off", "READY=1" + strings.Repeat("\x00", MaxMessage), Message{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, Parse([]byte(tt.text))); diff != "" {
				t.Errorf("Parse(%q) (-want +got):\n%s", tt.text, diff)
			}
		})
	}
}

func TestProgress(t *testing.T) {
	for text, want := range map[string]bool{
		"READY=1": true, "WATCHDOG=1": true, "STATUS=": true,
		"READY=0": false, "WATCHDOG=trigger": false, "STOPPING=1": false, "RELOADING=1": false,
		"MAINPID=1": false, "EXTEND_TIMEOUT_USEC=1": false, "EXTEND_TIMEOUT_USEC=1\nSTATUS=saving": true,
	} {
		if got := Parse([]byte(text)).Progress(); got != want {
			t.Errorf("Progress of %q = %v, want %v", text, got, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"READY=1\nSTATUS=x\nMAINPID=1", "WATCHDOG=1", "WATCHDOG=trigger", "STATUS=\xff\x1b", "EXTEND_TIMEOUT_USEC=18446744073709551615",
		"WATCHDOG_USEC=9223372036854775", "ERRNO=2", "RELOADING=1\nSTOPPING=1\x00", "=\n==\n\x00", "STATUS=\u0085\u202e",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		m := Parse(text)
		if !utf8.ValidString(m.Status) || strings.ContainsFunc(m.Status, unicode.IsControl) {
			t.Errorf("the status %q cannot be printed", m.Status)
		}
		// Each invalid byte grows to the three of U+FFFD.
		if len(m.Status) > 3*MaxMessage {
			t.Errorf("the status has %d bytes", len(m.Status))
		}
		if m.Extend < 0 || m.WatchdogPeriod < 0 || m.MainPID < 0 || m.Errno < 0 {
			t.Errorf("negative: %+v", m)
		}
		if m.Pid != 0 {
			t.Errorf("a text claims to know the sender: %+v", m)
		}
		if m.Status != "" && !m.HasStatus || m.Watchdog && m.Trigger {
			t.Errorf("contradiction: %+v", m)
		}
	})
}

func TestEnvironment(t *testing.T) {
	tests := []struct {
		timeout time.Duration
		want    map[string]string
	}{
		{0, map[string]string{"NOTIFY_SOCKET": "/s"}},
		{-time.Second, map[string]string{"NOTIFY_SOCKET": "/s"}},
		{time.Nanosecond, map[string]string{"NOTIFY_SOCKET": "/s"}},
		{90 * time.Second, map[string]string{"NOTIFY_SOCKET": "/s", "WATCHDOG_USEC": "90000000"}},
	}
	for _, tt := range tests {
		if diff := cmp.Diff(tt.want, Environment("/s", tt.timeout)); diff != "" {
			t.Errorf("Environment with %v (-want +got):\n%s", tt.timeout, diff)
		}
	}
	foreign := strings.Join(Foreign(), " ")
	for key := range Environment("/s", time.Second) {
		if !strings.Contains(foreign, key) {
			t.Errorf("%s would be inherited", key)
		}
	}
}
