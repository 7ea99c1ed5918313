package heartbeat

import (
	"runtime"
	"testing"
	"time"
)

func TestSuspended(t *testing.T) {
	const s = time.Second
	tests := []struct {
		name      string
		prev, now Clock
		want      time.Duration
	}{
		{"no time passed", Clock{5 * s, 8 * s}, Clock{5 * s, 8 * s}, 0},
		{"it ran", Clock{5 * s, 8 * s}, Clock{65 * s, 68 * s}, 0},
		{"read with a pause between the clocks", Clock{5 * s, 8 * s}, Clock{65 * s, 68*s + 900*time.Millisecond}, 0},
		{"the earlier reading had the pause", Clock{5 * s, 9 * s}, Clock{65 * s, 68 * s}, 0},
		{"an hour", Clock{5 * s, 8 * s}, Clock{65 * s, 3668 * s}, 3600 * s},
		{"suspended before, not since", Clock{5 * s, 9000 * s}, Clock{65 * s, 9060 * s}, 0},
		{"the shortest", Clock{}, Clock{0, s}, s},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := Suspended(tt.prev, tt.now); got != tt.want {
				t.Errorf("Suspended = %v, want %v", got, tt.want)
			}
		})
	}
}

func TestLate(t *testing.T) {
	tests := []struct {
		name    string
		late    time.Duration
		timeout time.Duration
		want    time.Duration
	}{
		{"early", -time.Second, time.Hour, 0},
		{"in time", 0, time.Hour, 0},
		{"a busy machine", 5 * time.Second, time.Hour, 0},
		{"stopped", 6 * time.Second, time.Hour, 6 * time.Second},
		{"a short timeout, busy", 250 * time.Millisecond, time.Second, 0},
		{"a short timeout, stopped", 251 * time.Millisecond, time.Second, 251 * time.Millisecond},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := Late(start, start.Add(tt.late), tt.timeout); got != tt.want {
				t.Errorf("Late = %v, want %v", got, tt.want)
			}
		})
	}
}

func TestNow(t *testing.T) {
	if runtime.GOOS != "linux" {
		if _, err := Now(); err == nil {
			t.Error("no error")
		}
		return
	}
	first, err := Now()
	if err != nil {
		t.Fatal(err)
	}
	second, err := Now()
	if err != nil {
		t.Fatal(err)
	}
	if first.Mono <= 0 || first.Boot < first.Mono || second.Mono < first.Mono || second.Boot < first.Boot {
		t.Errorf("clocks %+v, then %+v", first, second)
	}
	if lost := Suspended(first, second); lost != 0 {
		t.Errorf("suspended for %v in the middle of a test", lost)
	}
}
