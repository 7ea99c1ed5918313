package ranks

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// initialPidNamespace is what the kernel calls the first pid namespace; the
// number is fixed in its headers (PROC_PID_INIT_INO).
const initialPidNamespace = "pid:[4026531836]"

// ForeignProcess reports whether pid is a live process of this host that is
// neither this process nor an ancestor of it. It answers false wherever that
// cannot be told: in a container, whose pids are its own, and for a process that
// is gone. A step's variables are then believed. For [Request.Foreign].
func ForeignProcess(pid int) bool { return foreign("/proc", os.Getpid(), pid) }

func foreign(proc string, self, pid int) bool {
	namespace, err := os.Readlink(filepath.Join(proc, "self/ns/pid"))
	if err != nil || namespace != initialPidNamespace {
		return false
	}
	if _, err := os.Stat(filepath.Join(proc, strconv.Itoa(pid))); err != nil {
		return false
	}
	known, met := ancestors(proc, self, func(p int) bool { return p == pid })
	return known && !met
}

// ancestors walks from self upwards, self first, until found says so or pid 1 has been
// seen. known: it got that far; a parent that cannot be read may be anybody's child.
func ancestors(proc string, self int, found func(pid int) bool) (known, met bool) {
	p := self
	// The bound is for a /proc that changes while it is read, when a reused pid could
	// close a circle.
	for range 4096 {
		if found(p) {
			return true, true
		}
		if p <= 1 {
			return true, false
		}
		var err error
		if p, err = parent(proc, p); err != nil {
			return false, false
		}
	}
	return false, false
}

// StepAbove is the name, "JOB.STEP", that Slurm's process above this one has for what it
// runs: "5.0" in a step, "5.batch" in a batch script. "": there is none, or it cannot be
// seen, as in a container. For [Request.StepAbove].
func StepAbove() string { return stepAbove("/proc", os.Getpid()) }

func stepAbove(proc string, self int) (name string) {
	ancestors(proc, self, func(pid int) bool {
		title, err := os.ReadFile(filepath.Join(proc, strconv.Itoa(pid), "cmdline"))
		if err != nil {
			return false
		}
		// It writes the name over its arguments: "slurmstepd: [5.batch]", and blanks.
		rest, ok := strings.CutPrefix(string(title), "slurmstepd: [")
		if ok {
			name, _, ok = strings.Cut(rest, "]")
		}
		return ok
	})
	return name
}

// parent reads a process's parent from the stat file, where the name of the
// program, which may hold anything, stands in parentheses before it.
func parent(proc string, pid int) (int, error) {
	stat, err := os.ReadFile(filepath.Join(proc, strconv.Itoa(pid), "stat"))
	if err != nil {
		return 0, err
	}
	text := string(stat)
	fields := strings.Fields(text[strings.LastIndexByte(text, ')')+1:])
	if len(fields) < 2 {
		return 0, os.ErrInvalid
	}
	return strconv.Atoi(fields[1]) // state, then parent
}
