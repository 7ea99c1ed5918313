package cgroup

import (
	"fmt"
	"strconv"
	"strings"
)

// Prefix begins the name of every group that Create makes. Open takes nothing
// else, so a wrong path can never end somebody else's processes.
const Prefix = "lenslaunch-"

// GroupName names the group n (0 or more) of a launcher. The launcher is told by its pid and
// its start time (clock ticks since boot, field 22 of /proc/<pid>/stat), because
// a pid alone may be somebody else's later.
func GroupName(pid int, start uint64, n int) string {
	return fmt.Sprintf("%s%d-%d-%d", Prefix, pid, start, n)
}

// ParseGroupName reads what GroupName wrote, and nothing else.
func ParseGroupName(name string) (pid int, start uint64, n int, ok bool) {
	rest, found := strings.CutPrefix(name, Prefix)
	fields := strings.Split(rest, "-")
	if !found || len(fields) != 3 {
		return 0, 0, 0, false
	}
	pid, errPid := strconv.Atoi(fields[0])
	start, errStart := strconv.ParseUint(fields[1], 10, 64)
	n, errN := strconv.Atoi(fields[2])
	// Comparing rules out signs and leading zeros: two names are never one launcher.
	if errPid != nil || errStart != nil || errN != nil || pid <= 0 || GroupName(pid, start, n) != name {
		return 0, 0, 0, false
	}
	return pid, start, n, true
}
