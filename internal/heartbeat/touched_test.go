package heartbeat

import (
	"testing"
	"time"
)

func TestTouched(t *testing.T) {
	type look struct{ now, modified float64 }
	tests := []struct {
		name  string
		looks []look
		want  float64 // latest progress, seconds after start
	}{
		{"the first look only remembers", []look{{5, 5}}, 0},
		{"untouched", []look{{5, 0}, {10, 0}, {15, 0}}, 0},
		{"touched: when", []look{{5, 0}, {10, 7}}, 7},
		{"touched right after the last look", []look{{5, 0}, {65, 5.5}}, 5.5},
		{"touched now", []look{{5, 0}, {10, 10}}, 10},
		{"older than the last look: whose clock?", []look{{5, 0}, {10, 4}}, 10},
		{"set to the future", []look{{5, 0}, {10, 5000}}, 10},
		{"set to the past", []look{{5, 0}, {10, -5000}}, 10},
		{"the server's clock is an hour ahead, and unchanged", []look{{5, 3600}, {10, 3600}}, 0},
		{"the server's clock is an hour ahead, and touched", []look{{5, 3600}, {10, 3607}}, 10},
		{"touched and then left alone", []look{{5, 0}, {10, 7}, {70, 7}}, 7},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := New(time.Minute, 0, start)
			for _, l := range tt.looks {
				w = w.Touched(at(l.now), at(l.modified).Round(0)) // a file's time has no monotonic reading
			}
			if deadline, _ := w.Deadline(); !deadline.Equal(at(tt.want + 60)) {
				t.Errorf("last progress after %v, want %v s", deadline.Sub(start)-time.Minute, tt.want)
			}
		})
	}
}

func TestTouchedDoesNotUndoOtherProgress(t *testing.T) {
	w := New(time.Minute, 0, start).Touched(start, start).Progress(at(9)).Touched(at(10), at(3).Round(0))
	if deadline, _ := w.Deadline(); !deadline.Equal(at(69)) {
		t.Errorf("deadline after %v, want 69s", deadline.Sub(start))
	}
}

// A wall clock that is stepped must not make an age that ends a healthy rank.
func TestPlausible(t *testing.T) {
	const s = time.Second
	tests := []struct {
		name                 string
		age, monotonic, wall time.Duration
		want                 time.Duration
	}{
		{"ordinary", 10 * s, 60 * s, 60 * s, 10 * s},
		{"the whole time", 60 * s, 60 * s, 60 * s, 60 * s},
		{"slewed by NTP", 10 * s, 60 * s, 60*s + 30*time.Millisecond, 10 * s},
		{"older than the last look", 61 * s, 60 * s, 60 * s, 0},
		{"from the future", -s, 60 * s, 60 * s, 0},
		{"stepped forward by less than the time", 40 * s, 60 * s, 90 * s, 0},
		{"stepped back", 10 * s, 60 * s, -600 * s, 0},
		{"the machine was suspended", 10 * s, 60 * s, 3600 * s, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := plausible(tt.age, tt.monotonic, tt.wall); got != tt.want {
				t.Errorf("plausible = %v, want %v", got, tt.want)
			}
		})
	}
}
