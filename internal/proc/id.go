package proc

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// ID tells a process from every other, also from one that gets its pid later.
type ID struct {
	Pid   int
	Start uint64 // start time, in clock ticks since boot (field 22 of /proc/<pid>/stat)
}

// String is for logs: "pid 4711".
func (id ID) String() string { return fmt.Sprintf("pid %d", id.Pid) }

// Alive reports whether exactly this process still exists and is not a zombie. One
// that cannot be looked at, for want of descriptors say, counts as alive.
func (id ID) Alive() bool { return !Gone(id.check()) }

// check returns nil if exactly this process runs, os.ErrProcessDone if it has ended,
// and another error if that cannot be told.
func (id ID) check() error {
	st, err := ReadStat(id.Pid)
	switch {
	case Gone(err), err == nil && (st.ID != id || st.Dead()):
		return os.ErrProcessDone
	default:
		return err
	}
}

// Dead reports whether the process has ended: a zombie, or even less. One whose
// first thread alone has ended looks like a zombie too, but its other threads run.
func (s Stat) Dead() bool { return s.State == 'X' || s.State == 'Z' && s.Threads <= 1 }

// Gone reports whether an error about a process says that it is no more.
func Gone(err error) bool {
	return errors.Is(err, os.ErrNotExist) || errors.Is(err, syscall.ESRCH) || errors.Is(err, os.ErrProcessDone)
}
