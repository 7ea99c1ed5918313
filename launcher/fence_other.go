//go:build !linux

package launcher

// fence needs Linux, as a Slurm step does.
func (*effects) fence() {}
