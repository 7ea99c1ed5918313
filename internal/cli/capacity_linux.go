package cli

import (
	"os"
	"strings"

	"golang.org/x/sys/unix"

	"lenslaunch/semconv"
)

// systemCapacity asks the kernel. The Go runtime has raised the soft limit on open
// files to the hard one by now, so that one counts.
func systemCapacity() capacity {
	c := capacity{files: limit(unix.RLIMIT_NOFILE)}
	// root is not held to the number of its processes.
	if os.Geteuid() != 0 {
		c.processes = limit(unix.RLIMIT_NPROC)
	}
	if text, err := os.ReadFile("/proc/sys/kernel/pid_max"); err == nil {
		if n, ok := semconv.ParseInt(strings.TrimSpace(string(text))); ok && n > 0 {
			c.pids = uint64(n)
		}
	}
	return c
}

func limit(resource int) uint64 {
	var l unix.Rlimit
	if unix.Getrlimit(resource, &l) != nil || l.Cur == unix.RLIM_INFINITY {
		return 0
	}
	return l.Cur
}
