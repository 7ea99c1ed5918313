package heartbeat

import "time"

// Touched says that the heartbeat file was looked at now and had that time of
// modification. The first look only remembers it: Create sets it, not the worker.
//
// A changed time is progress. When that was is told by its age, since the file may
// have been touched right after the last look, long ago.
func (w Watch) Touched(now, modified time.Time) Watch {
	first, before := w.looked.IsZero(), w
	w.looked, w.touched = now, modified
	if first || modified.Equal(before.touched) {
		return w
	}
	monotonic := now.Sub(before.looked)
	wall := now.Round(0).Sub(before.looked.Round(0)) // Round strips the monotonic reading
	// modified has none, so the age compares wall clocks.
	return w.Progress(now.Add(-plausible(now.Sub(modified), monotonic, wall)))
}

// stepTolerance is how far the wall clock may drift from the monotonic one between two
// looks at a file (slewing by NTP) before it counts as stepped.
const stepTolerance = time.Second

// plausible is the age of a touch that was made since the last look, which both clocks
// say was so long ago. The age compares the clock of the file's machine with ours:
// where it is impossible, or our clock was stepped meanwhile, the touch counts as made
// now. That finds a hang later, never one that is none.
func plausible(age, monotonic, wall time.Duration) time.Duration {
	if age < 0 || age > monotonic || (wall-monotonic).Abs() > stepTolerance {
		return 0
	}
	return age
}
