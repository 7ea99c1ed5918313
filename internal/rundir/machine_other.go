//go:build !linux

package rundir

import "time"

// machine is not supported on this system: nothing can be said of a pid.
func machine() (boot, pidNS string) { return "", "" }

// sinceBoot is not supported on this system: the clock begins with the launcher.
func sinceBoot() time.Duration { return 0 }
