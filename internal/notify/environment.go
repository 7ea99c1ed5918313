package notify

import (
	"strconv"
	"time"
)

// Environment is what a worker must find in its environment: the socket's path, and
// with a timeout WATCHDOG_USEC, so that sd_watchdog_enabled(3) tells the worker how
// often to say WATCHDOG=1 (it takes half of it). Remove what [Foreign] lists first.
func Environment(path string, timeout time.Duration) map[string]string {
	env := map[string]string{"NOTIFY_SOCKET": path}
	if timeout >= time.Microsecond {
		env["WATCHDOG_USEC"] = strconv.FormatInt(timeout.Microseconds(), 10)
	}
	return env
}

// Foreign lists the variables of the convention that a worker must not inherit:
// where the launcher is a systemd service itself, they speak of the launcher, and a
// worker's READY=1 or STOPPING=1 there would be taken for the launcher's.
func Foreign() []string {
	return []string{"NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"}
}
