package proc

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
)

// procfs is where a proc file system is mounted; tests lay out their own.
type procfs string

const system procfs = "/proc"

func (p procfs) path(pid int) string { return string(p) + "/" + strconv.Itoa(pid) }

func (p procfs) stat(pid int) (Stat, error) {
	text, err := readFile(p.path(pid) + "/stat")
	if err != nil {
		if Gone(err) {
			// The kernel says ESRCH if the process ends between open and read.
			return Stat{}, fmt.Errorf("cannot read the state of pid %d: %w", pid, os.ErrNotExist)
		}
		return Stat{}, err
	}
	return parseStat(text)
}

// pids lists every process that is visible here, the youngest first: those are the
// ones that may soon be gone.
func (p procfs) pids() ([]int, error) {
	dir, err := os.Open(string(p))
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	var pids []int
	for _, name := range names {
		if pid, err := strconv.Atoi(name); err == nil && pid > 0 {
			pids = append(pids, pid)
		}
	}
	// Pids are given in ascending order and begin anew at the top.
	last := p.lastPid()
	slices.SortFunc(pids, func(a, b int) int {
		if (a > last) != (b > last) {
			return cmp.Compare(a, b)
		}
		return cmp.Compare(b, a)
	})
	return pids, err
}

// lastPid is the pid that was given last, or more than any if that is not told.
func (p procfs) lastPid() int {
	text, err := os.ReadFile(string(p) + "/loadavg")
	if fields := bytes.Fields(text); err == nil && len(fields) == 5 {
		if pid, err := strconv.Atoi(string(fields[4])); err == nil {
			return pid
		}
	}
	return math.MaxInt
}

// Scan calls visit for every process that is visible, zombies too, without the
// threads of the kernel; the youngest come first. A process that begins meanwhile may
// be missed; gone says how many ended before they could be visited.
func Scan(visit func(Stat)) (gone int, err error) { return system.scan(visit) }

func (p procfs) scan(visit func(Stat)) (gone int, err error) {
	pids, err := p.pids()
	if err != nil {
		return 0, fmt.Errorf("cannot list processes: %w", err)
	}
	for _, pid := range pids {
		st, err := p.stat(pid)
		switch {
		case Gone(err):
			gone++
		case err != nil:
			return gone, fmt.Errorf("cannot list processes: %w", err)
		case !st.Kernel:
			visit(st)
		}
	}
	return gone, nil
}

// All returns what Scan visits.
func All() ([]Stat, error) { return system.all() }

func (p procfs) all() (list []Stat, err error) {
	_, err = p.scan(func(st Stat) { list = append(list, st) })
	return list, err
}
