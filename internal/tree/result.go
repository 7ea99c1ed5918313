package tree

import (
	"fmt"

	"lenslaunch/internal/proc"
)

// Result says what a sweep did.
type Result struct {
	Killed int    // processes that it ended
	Left   []Left // those that live on, an outcome to be reported
	Passes int    // how often it looked
	Err    error  // something could not be looked at: what is left is not known
}

// Empty reports whether nothing of the attempt is left, for certain.
func (r Result) Empty() bool { return len(r.Left) == 0 && r.Err == nil }

// Left is a process that a sweep could not end.
type Left struct {
	proc.Stat
	WaitChannel string // where it sleeps in the kernel; empty: not told
	Reason      Reason
}

// String is for logs: "pid 4711 (python3): uninterruptible in nfs_wait_bit_killable".
func (l Left) String() string {
	text := fmt.Sprintf("%v (%s): %s", l.ID, l.Comm, l.Reason)
	if l.WaitChannel != "" {
		text += " in " + l.WaitChannel
	}
	return text
}

// Reason is why a process is left.
type Reason string

const (
	// Uninterruptible: it was killed, and dies when the kernel (a driver, a file
	// system) lets it go.
	Uninterruptible Reason = "uninterruptible"
	// Permission: it belongs to another user.
	Permission Reason = "permission"
	// OutOfTime: it was killed, and the time was over before it was gone.
	OutOfTime Reason = "out of time"
)

// leftNow describes a process that should be gone; false if it is.
func leftNow(id proc.ID, denied bool) (Left, bool) {
	st, err := proc.ReadStat(id.Pid)
	if err != nil || st.ID != id || st.Dead() {
		return Left{}, false
	}
	left := Left{Stat: st, WaitChannel: waitChannel(id.Pid), Reason: OutOfTime}
	switch {
	case denied:
		left.Reason = Permission
	case st.State == 'D':
		left.Reason = Uninterruptible
	}
	return left, true
}
