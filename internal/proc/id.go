package proc

import "fmt"

// ID tells a process from every other, also from one that gets its pid later.
type ID struct {
	Pid   int
	Start uint64 // start time, in clock ticks since boot (field 22 of /proc/<pid>/stat)
}

// String is for logs: "pid 4711".
func (id ID) String() string { return fmt.Sprintf("pid %d", id.Pid) }

// Alive reports whether exactly this process still exists and is not a zombie.
func (id ID) Alive() bool {
	st, err := ReadStat(id.Pid)
	return err == nil && st.ID == id && !st.Dead()
}

// Dead reports whether the process has ended: a zombie, or even less. One whose
// first thread alone has ended looks like a zombie too, but its other threads run.
func (s Stat) Dead() bool { return s.State == 'X' || s.State == 'Z' && s.Threads <= 1 }
