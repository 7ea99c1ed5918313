package cli

import (
	"strconv"

	"lenslaunch/ranks"
)

// capacity is what this process may have at the most; 0: not known or no limit.
type capacity struct {
	files     uint64 // open files of this process (ulimit -n)
	processes uint64 // processes of this user (ulimit -u)
	pids      uint64 // process numbers of the system
}

// filesPerRank are a rank's pidfd, which package os holds too, and our ends of its two
// pipes. filesBeside is less than what the launcher has open besides, so that only
// what is sure to fail is refused here; the rest shows when the ranks are started.
const (
	filesPerRank = 4
	filesBeside  = 8
)

// filesNeeded is how many open files so many ranks need at least.
func filesNeeded(ranks int) uint64 { return uint64(ranks)*filesPerRank + filesBeside }

// thinkable refuses more ranks than there are process numbers: even to list them
// would take all memory. asked is the flag or variable that asked for them.
func (c capacity) thinkable(w ranks.World, asked string) error {
	if n := uint64(w.LocalSize); c.pids > 0 && n > c.pids {
		return misuse("start fewer ranks on this node",
			"%s asks for %d local ranks, and this system has %d process numbers (/proc/sys/kernel/pid_max)", asked, n, c.pids)
	}
	return nil
}

// startable names the limit that stands in the way of so many ranks, before the
// first one is started. A single rank needs no pipe.
func (c capacity) startable(w ranks.World, asked string) error {
	n := uint64(w.LocalSize)
	if n == 1 {
		return nil
	}
	if need := filesNeeded(w.LocalSize); c.files > 0 && need > c.files {
		return misuse("raise it with `ulimit -n "+strconv.FormatUint(2*need, 10)+"`, or start fewer ranks",
			"%s asks for %d local ranks, which need more than %d open files, and the limit is %d (ulimit -n)", asked, n, need, c.files)
	}
	if c.processes > 0 && n > c.processes {
		return misuse("raise it with `ulimit -u`, or start fewer ranks",
			"%s asks for %d local ranks, more processes than the %d that this user may have (ulimit -u)", asked, n, c.processes)
	}
	return nil
}
