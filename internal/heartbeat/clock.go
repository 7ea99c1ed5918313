package heartbeat

import "time"

// Clock is a reading of the system's two steady clocks, each since boot. Boot goes on
// while the machine is suspended, Mono stands still; nothing else tells them apart.
type Clock struct{ Mono, Boot time.Duration }

// shortestSuspend is what counts as a suspension: the two clocks are read one after
// the other, and on a loaded machine time passes in between.
const shortestSuspend = time.Second

// Suspended is how long the machine was suspended between two readings, 0 if it was
// not. Timers and time.Now of Go stand still in that time, so a watch does not run out
// in it; but the ranks need a whole period afterwards.
func Suspended(prev, now Clock) time.Duration {
	lost := (now.Boot - prev.Boot) - (now.Mono - prev.Mono)
	if lost < shortestSuspend {
		return 0
	}
	return lost
}

// mostLate is the largest delay of a timer that a machine may show which runs.
const mostLate = 5 * time.Second

// Late is how much later than due a timer is looked at, 0 if that is an ordinary
// delay. If not, the launcher itself did not run: it was stopped with its job
// (scontrol suspend, a frozen cgroup) or the virtual machine was paused, which neither
// clock tells. An ordinary delay is up to a quarter of the timeout, at most 5 s.
func Late(due, now time.Time, timeout time.Duration) time.Duration {
	late := now.Sub(due)
	if late <= min(mostLate, timeout/4) {
		return 0
	}
	return late
}
