package proc

import (
	"bytes"
	"fmt"
	"strconv"

	"golang.org/x/sys/unix"
)

// Stat is what this package needs of /proc/<pid>/stat.
type Stat struct {
	ID
	Comm    string // the name of the executable, at most 15 bytes
	State   byte   // R, S, D, Z, T, ...
	Parent  int
	Group   int // process group
	Session int
	Threads int
	Kernel  bool // a thread of the kernel: no process of anybody
}

// flagKernel is PF_KTHREAD of the kernel's include/linux/sched.h. (That the parent
// is pid 2 says nothing inside a container.)
const flagKernel = 0x0020_0000

// ReadStat reads the state of a process. The error is os.ErrNotExist once it is
// gone; a zombie is still there (State 'Z').
func ReadStat(pid int) (Stat, error) { return system.stat(pid) }

// parseStat reads a line of /proc/<pid>/stat. The name may hold spaces and
// parentheses of its own, so the fields are counted from the last ')'.
func parseStat(text []byte) (Stat, error) {
	open, end := bytes.IndexByte(text, '('), bytes.LastIndexByte(text, ')')
	if open < 1 || end < open {
		return Stat{}, fmt.Errorf("cannot read a process's state: no name in %q", clip(text))
	}
	pid, err := strconv.Atoi(string(bytes.TrimSpace(text[:open])))
	if err != nil {
		return Stat{}, fmt.Errorf("cannot read a process's state: no pid in %q", clip(text))
	}
	fields := bytes.Fields(text[end+1:])
	// After the name: 0 state, 1 parent, 2 group, 3 session, 6 flags, 17 threads, 19 start time.
	if len(fields) < 20 || len(fields[0]) != 1 {
		return Stat{}, fmt.Errorf("cannot read a process's state: %d fields in %q", len(fields), clip(text))
	}
	st := Stat{Comm: string(text[open+1 : end]), State: fields[0][0]}
	st.Pid = pid
	var flags int
	for i, to := range [...]*int{1: &st.Parent, 2: &st.Group, 3: &st.Session, 6: &flags, 17: &st.Threads} {
		if to == nil {
			continue
		}
		if *to, err = strconv.Atoi(string(fields[i])); err != nil {
			return Stat{}, fmt.Errorf("cannot read a process's state: field %d of %q: %w", i, clip(text), err)
		}
	}
	st.Kernel = flags&flagKernel != 0
	if st.Start, err = strconv.ParseUint(string(fields[19]), 10, 64); err != nil {
		return Stat{}, fmt.Errorf("cannot read a process's state: start time of %q: %w", clip(text), err)
	}
	return st, nil
}

// clip keeps error messages short.
func clip(text []byte) []byte {
	const most = 80
	if len(text) > most {
		return text[:most]
	}
	return text
}

// userHZ is how many clock ticks of /proc a second has, on every system that Go knows.
const userHZ = 100

// Now is the present time on the clock of ID.Start, rounded down.
func Now() (uint64, error) {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &ts); err != nil {
		return 0, fmt.Errorf("cannot read the time since boot: %w", err)
	}
	return uint64(ts.Nano()) / (1e9 / userHZ), nil
}
