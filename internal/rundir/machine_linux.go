package rundir

import (
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// machine is what a pid means: a boot of a machine, and a namespace on it.
func machine() (boot, pidNS string) {
	text, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	pidNS, _ = os.Readlink("/proc/self/ns/pid")
	return strings.TrimSpace(string(text)), pidNS
}

// sinceBoot goes on while the machine sleeps, and no clock setting changes it.
func sinceBoot() time.Duration {
	var t unix.Timespec
	if unix.ClockGettime(unix.CLOCK_BOOTTIME, &t) != nil {
		return 0
	}
	return time.Duration(t.Nano())
}
