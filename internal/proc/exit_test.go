package proc

import (
	"strings"
	"syscall"
	"testing"
)

func TestExit(t *testing.T) {
	tests := []struct {
		exit Exit
		text string
		code int
		ok   bool
	}{
		{Exit{}, "exit code 0", 0, true},
		{Exit{Code: 3}, "exit code 3", 3, false},
		{Exit{Signal: syscall.SIGKILL}, "SIGKILL", 137, false},
		{Exit{Signal: syscall.SIGSEGV, Core: true}, "SIGSEGV (core dumped)", 139, false},
		{Exit{Signal: 40}, "SIGRTMIN+6", 168, false},
		{Exit{Signal: 32}, "signal 32", 160, false},
	}
	for _, tt := range tests {
		if tt.exit.String() != tt.text || tt.exit.ShellCode() != tt.code || tt.exit.OK() != tt.ok {
			t.Errorf("%+v: %q, %d, %v", tt.exit, tt.exit, tt.exit.ShellCode(), tt.exit.OK())
		}
	}
}

func TestParseSignal(t *testing.T) {
	for text, want := range map[string]syscall.Signal{
		"TERM": syscall.SIGTERM, "SIGTERM": syscall.SIGTERM, "sigusr1": syscall.SIGUSR1, " int ": syscall.SIGINT,
		"10": syscall.SIGUSR1, "64": 64, "RTMIN": 34, "SIGRTMIN+3": 37, "rtmax": 64,
	} {
		if got, err := ParseSignal(text); err != nil || got != want {
			t.Errorf("ParseSignal(%q) = %v, %v", text, got, err)
		}
	}
	for _, bad := range []string{"", "0", "65", "-1", "999", "9999", "FOO", "SIG", "SIGSIGTERM", "TERM,INT", "RTMIN+31", "RTMIN+", "RTMIN-1", "1a"} {
		if got, err := ParseSignal(bad); err == nil {
			t.Errorf("ParseSignal(%q) = %v", bad, got)
		} else if strings.Contains(err.Error(), "\n") {
			t.Errorf("ParseSignal(%q): several lines", bad)
		}
	}
}
