package proc

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
)

// Stat is what this package needs of /proc/<pid>/stat.
type Stat struct {
	ID
	Comm    string // the name of the executable, at most 15 bytes
	State   byte   // R, S, D, Z, T, ...
	Parent  int
	Group   int // process group
	Session int
}

// ReadStat reads the state of a process. The error is os.ErrNotExist once it is
// gone; a zombie is still there (State 'Z').
func ReadStat(pid int) (Stat, error) {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return Stat{}, err
	}
	return parseStat(text)
}

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
	// After the name: 0 state, 1 parent, 2 group, 3 session, ... 19 start time.
	if len(fields) < 20 || len(fields[0]) != 1 {
		return Stat{}, fmt.Errorf("cannot read a process's state: %d fields in %q", len(fields), clip(text))
	}
	st := Stat{Comm: string(text[open+1 : end]), State: fields[0][0]}
	st.Pid = pid
	for i, to := range map[int]*int{1: &st.Parent, 2: &st.Group, 3: &st.Session} {
		if *to, err = strconv.Atoi(string(fields[i])); err != nil {
			return Stat{}, fmt.Errorf("cannot read a process's state: field %d of %q: %w", i, clip(text), err)
		}
	}
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
