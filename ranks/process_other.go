//go:build !linux

package ranks

// ForeignProcess is not supported on this system: it has no /proc to ask, and
// Slurm's variables are believed.
func ForeignProcess(int) bool { return false }

// StepAbove is not supported on this system either.
func StepAbove() string { return "" }
