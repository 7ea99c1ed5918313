package placement

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"

	"golang.org/x/sys/unix"
)

// Apply binds the calling thread, so that a child that it starts inherits the place
// from its first instruction on. The returned function puts the thread back; call it on
// the same goroutine once the child was started. Until then the goroutine is locked to
// the thread. After an error nothing is bound. The zero Binding changes nothing.
//
// Memory: with one node the kernel takes it from there as long as there is some, then
// from the nearest other (MPOL_PREFERRED). Not MPOL_BIND, with which a rank whose node
// is full is killed for lack of memory, or swaps, while the other half of the machine
// is free; and the page cache of data-loader workers fills nodes. With several nodes
// each thread takes from the node it runs on (MPOL_LOCAL), which the affinity mask
// keeps among them; this also undoes an inherited interleaving.
func Apply(b Binding) (restore func() error, err error) {
	runtime.LockOSThread()
	undoCPUs, undoMemory := nothing, nothing
	restore = func() error {
		if err := errors.Join(undoMemory(), undoCPUs()); err != nil {
			// Still locked: a thread in the wrong place ends with its goroutine.
			return fmt.Errorf("cannot undo a binding: %w", err)
		}
		runtime.UnlockOSThread()
		return nil
	}
	if undoCPUs, err = bindCPUs(b.CPUs); err != nil {
		err = fmt.Errorf("cannot bind to CPUs %v: %w", b.CPUs, err)
	} else if undoMemory, err = bindMemory(b.Nodes); err != nil {
		err = fmt.Errorf("cannot prefer memory of NUMA nodes %v: %w", CPUList(b.Nodes), err)
	}
	if err != nil {
		return nil, errors.Join(err, restore())
	}
	return restore, nil
}

func nothing() error { return nil }

// bindCPUs sets the thread's affinity mask and returns how to set the old one, also
// after an error.
func bindCPUs(cpus CPUList) (undo func() error, err error) {
	if len(cpus) == 0 {
		return nothing, nil
	}
	old, err := affinity()
	if err != nil {
		return nothing, err
	}
	if err := setAffinity(cpus); err != nil {
		return nothing, err
	}
	// The kernel leaves out what a cpuset forbids or has gone offline, without a word.
	now, err := affinity()
	if err == nil && !slices.Equal(now, cpus) {
		err = fmt.Errorf("the kernel allows only %v", now)
	}
	return func() error { return setAffinity(old) }, err
}

// affinity is the calling thread's mask.
func affinity() (CPUList, error) {
	// EINVAL says that the kernel's mask is longer.
	for size := 1024; ; size *= 2 {
		set := unix.NewCPUSet(size)
		err := unix.SchedGetaffinityDynamic(0, set)
		if errors.Is(err, unix.EINVAL) && size <= maxCPU {
			continue
		}
		if err != nil {
			return nil, os.NewSyscallError("sched_getaffinity", err)
		}
		var list CPUList
		for cpu := range size {
			if set.IsSet(cpu) {
				list = append(list, cpu)
			}
		}
		return list, nil
	}
}

func setAffinity(cpus CPUList) error {
	set := unix.NewCPUSet(slices.Max(cpus) + 1)
	for _, cpu := range cpus {
		set.Set(cpu)
	}
	return os.NewSyscallError("sched_setaffinity", unix.SchedSetaffinityDynamic(0, set))
}
