package detect

import (
	"context"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// defaultKillWait is Slurm's own default.
const defaultKillWait = 30 * time.Second

// scontrolTime bounds how long Slurm's controller may take to answer: the launch goes
// on without it.
const scontrolTime = 3 * time.Second

// KillWait is the time between Slurm's SIGTERM and its SIGKILL to a step, and where it
// was found. It asks scontrol; without one, as in a
// container, it is Slurm's default. (Cluster specification, stop budget.)
func KillWait(ctx context.Context) (wait time.Duration, from string) {
	program, err := exec.LookPath("scontrol")
	if err != nil {
		return defaultKillWait, "the default; there is no scontrol"
	}
	text, err := runLimited(ctx, scontrolTime, program, "show", "config")
	if err != nil {
		return defaultKillWait, "the default; scontrol does not answer"
	}
	if wait, ok := parseKillWait(string(text)); ok {
		return wait, "scontrol show config"
	}
	return defaultKillWait, "the default; scontrol does not say"
}

// parseKillWait reads the line "KillWait                = 30 sec".
func parseKillWait(text string) (time.Duration, bool) {
	for line := range strings.Lines(text) {
		key, value, ok := strings.Cut(line, "=")
		if !ok || strings.TrimSpace(key) != "KillWait" {
			continue
		}
		number, _, _ := strings.Cut(strings.TrimSpace(value), " ")
		n, err := strconv.ParseUint(number, 10, 16) // Slurm keeps 16 bits of it
		return time.Duration(n) * time.Second, err == nil
	}
	return 0, false
}
