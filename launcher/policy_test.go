package launcher

import (
	"strings"
	"syscall"
	"testing"
	"time"

	"lenslaunch/internal/proc"
)

func exitSet(t *testing.T, text string) ExitSet {
	t.Helper()
	set, err := ParseExitSet(text)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// lives makes a history of failed attempts with the given lives.
func lives(cause proc.Exit, uptimes ...time.Duration) []Ended {
	var out []Ended
	for _, u := range uptimes {
		out = append(out, Ended{Cause: cause, Uptime: u})
	}
	return out
}

func TestPolicyDecides(t *testing.T) {
	base := Policy{MaxRestarts: 2, Delay: time.Second, DelayMax: time.Minute}
	with := func(change func(*Policy)) Policy {
		p := base
		p.NoRestartOn = exitSet(t, "2,126,127")
		change(&p)
		return p
	}
	long := time.Hour
	tests := []struct {
		name   string
		policy Policy
		failed []Ended
		want   bool
		reason string
	}{
		{"no restarts asked for", Policy{}, lives(code(1), long), false, "--max-restarts 0"},
		{"first restart", with(func(*Policy) {}), lives(code(1), long), true, "restart 1 of 2"},
		{"last restart", with(func(*Policy) {}), lives(code(1), long, long), true, "restart 2 of 2"},
		{"used up", with(func(*Policy) {}), lives(code(1), long, long, long), false, "used up"},
		{"fatal by default", with(func(*Policy) {}), lives(code(127), long), false, "--no-restart-on"},
		{"a signal is no code", with(func(p *Policy) { p.NoRestartOn = exitSet(t, "9") }), lives(killed(syscall.SIGKILL), long), true, ""},
		{"fatal signal", with(func(p *Policy) { p.NoRestartOn = exitSet(t, "SIGILL") }), lives(killed(syscall.SIGILL), long), false, "SIGILL is fatal"},
		{"listed", with(func(p *Policy) { p.RestartOn = exitSet(t, "3,SIGKILL") }), lives(killed(syscall.SIGKILL), long), true, ""},
		{"not listed", with(func(p *Policy) { p.RestartOn = exitSet(t, "3,SIGKILL") }), lives(code(1), long), false, "not in --restart-on"},
		{"both lists match: no restart", with(func(p *Policy) { p.RestartOn = exitSet(t, "0-255") }), lives(code(2), long), false, "fatal"},
		{"one start-up failure", with(func(p *Policy) { p.MinUptime = time.Minute }), lives(code(1), time.Second), true, ""},
		{"two start-up failures", with(func(p *Policy) { p.MinUptime = time.Minute; p.MaxRestarts = 100 }),
			lives(code(1), time.Second, time.Second), false, "--min-uptime"},
		{"two that are not in a row", with(func(p *Policy) { p.MinUptime = time.Minute; p.MaxRestarts = 100 }),
			lives(code(1), time.Second, time.Hour, time.Second), true, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := tt.policy.decide(tt.failed, 0.5)
			if got.Restart != tt.want || !strings.Contains(got.Reason, tt.reason) {
				t.Errorf("decide = %+v, want restart %v because of %q", got, tt.want, tt.reason)
			}
		})
	}
}

// A job that fails once a day is no crash loop (--restart-window).
func TestRestartWindow(t *testing.T) {
	p := Policy{MaxRestarts: 2, Window: time.Hour}
	failed := func(minutes ...int) []Ended {
		var out []Ended
		for _, m := range minutes {
			out = append(out, Ended{Cause: code(1), At: time.Unix(0, 0).Add(time.Duration(m) * time.Minute)})
		}
		return out
	}
	if d := p.decide(failed(0, 100, 200, 300, 400), 0); !d.Restart || d.Reason != "restart 1 of 2" {
		t.Errorf("spread out: %+v", d)
	}
	if d := p.decide(failed(0, 300, 310, 320), 0); d.Restart || !strings.Contains(d.Reason, "--restart-window 1h0m0s") {
		t.Errorf("three within the hour: %+v", d)
	}
	if d := p.decide(failed(0, 10, 69), 0); !d.Restart || d.Reason != "restart 2 of 2" {
		t.Errorf("the first is out of the window: %+v", d)
	}
}

func TestRestartDelay(t *testing.T) {
	p := Policy{MaxRestarts: 100, Delay: time.Second, DelayMax: 10 * time.Second}
	tests := []struct {
		name    string
		uptimes []time.Duration
		random  float64
		want    time.Duration
	}{
		{"first", []time.Duration{0}, 0, 500 * time.Millisecond},
		{"jitter", []time.Duration{0}, 0.5, 750 * time.Millisecond},
		{"second is doubled", []time.Duration{0, 0}, 0, time.Second},
		{"fourth", []time.Duration{0, 0, 0, 0}, 0, 4 * time.Second},
		{"bounded", make([]time.Duration, 60), 0, 5 * time.Second},
		{"a healthy attempt ends the row", []time.Duration{0, 0, 0, 10 * time.Second}, 0, 500 * time.Millisecond},
		{"and the row begins anew", []time.Duration{0, 0, 10 * time.Second, 0}, 0, time.Second},
		{"an almost healthy one does not", []time.Duration{0, 0, 10*time.Second - 1}, 0, 2 * time.Second},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := p.decide(lives(code(1), tt.uptimes...), tt.random).Delay; got != tt.want {
				t.Errorf("delay = %v, want %v", got, tt.want)
			}
		})
	}
	none := Policy{MaxRestarts: 1}
	if got := none.decide(lives(code(1), 0), 0.9).Delay; got != 0 {
		t.Errorf("delay without --restart-delay = %v", got)
	}
}

func TestExitSet(t *testing.T) {
	set := exitSet(t, "2, 64-78 ,SIGILL,kill")
	for _, e := range []proc.Exit{code(2), code(64), code(70), code(78), killed(syscall.SIGILL), killed(syscall.SIGKILL)} {
		if !set.Has(e) {
			t.Errorf("%v is missing", e)
		}
	}
	for _, e := range []proc.Exit{code(0), code(3), code(63), code(79), code(4), code(9), code(137), killed(syscall.SIGTERM)} {
		if set.Has(e) {
			t.Errorf("%v is in it", e)
		}
	}
	if !exitSet(t, " ").Empty() || set.Empty() {
		t.Error("Empty is wrong")
	}
	for _, bad := range []string{"x", "256", "-1", "5-3", "1-", "-", "1,,2", "SIGFOO", "1-SIGILL", "0x10", "99999999999999999999"} {
		if _, err := ParseExitSet(bad); err == nil {
			t.Errorf("%q was taken", bad)
		} else if strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: message of several lines: %v", bad, err)
		}
	}
}

func TestParseLadder(t *testing.T) {
	const timeout = 20 * time.Second
	tests := []struct {
		text  string
		rungs []Rung
		kill  time.Duration
	}{
		{"SIGTERM", []Rung{{syscall.SIGTERM, 0}}, timeout},
		{"int", []Rung{{syscall.SIGINT, 0}}, timeout},
		{"TERM:5s", []Rung{{syscall.SIGTERM, 0}}, 5 * time.Second},
		{"INT:5s,TERM:15s", []Rung{{syscall.SIGINT, 0}, {syscall.SIGTERM, 5 * time.Second}}, 20 * time.Second},
		{"INT:5s,TERM", []Rung{{syscall.SIGINT, 0}, {syscall.SIGTERM, 5 * time.Second}}, timeout},
		{"INT:30s,TERM", []Rung{{syscall.SIGINT, 0}, {syscall.SIGTERM, 30 * time.Second}}, 30 * time.Second},
	}
	for _, tt := range tests {
		l, err := ParseLadder(tt.text, timeout)
		if err != nil {
			t.Errorf("%q: %v", tt.text, err)
			continue
		}
		if len(l.Rungs) != len(tt.rungs) || l.Kill != tt.kill {
			t.Errorf("%q = %+v", tt.text, l)
			continue
		}
		for i, r := range l.Rungs {
			if r != tt.rungs[i] {
				t.Errorf("%q: rung %d is %+v, want %+v", tt.text, i, r, tt.rungs[i])
			}
		}
	}
	for _, bad := range []string{"", "FOO", "INT,TERM", "INT:x", "INT:-1s", "INT:5,TERM", "INT:5s,", "0", "65"} {
		if l, err := ParseLadder(bad, timeout); err == nil {
			t.Errorf("%q was taken as %+v", bad, l)
		}
	}
}

func TestLadderWithin(t *testing.T) {
	l := Ladder{Rungs: []Rung{{syscall.SIGINT, 0}, {syscall.SIGTERM, 5 * time.Second}}, Kill: 20 * time.Second}
	if got := l.Within(15 * time.Second); len(got.Rungs) != 2 || got.Kill != 15*time.Second {
		t.Errorf("15s: %+v", got)
	}
	if got := l.Within(3 * time.Second); len(got.Rungs) != 1 || got.Kill != 3*time.Second {
		t.Errorf("3s: %+v", got)
	}
	if got := l.Within(0); len(got.Rungs) != 1 || got.Kill != 0 {
		t.Errorf("0: %+v", got)
	}
	if got := l.Within(time.Hour); got.Kill != 20*time.Second {
		t.Errorf("an hour: %+v", got)
	}
}
