package doctor

import (
	"context"
	"fmt"
	"runtime"
	"strconv"
	"strings"

	"lenslaunch/internal/cgroup"
)

// Versions of Linux from which on the launcher has what it prefers.
const (
	pidfdVersion = 5_003 // pidfds that can be waited for
	groupVersion = 5_014 // cgroup.kill
)

func kernel(_ context.Context, _ Subject) []Finding {
	if runtime.GOOS != "linux" {
		return one("kernel", Problem, "run it on Linux (amd64 or arm64)", "%s cannot start workers", runtime.GOOS)
	}
	release := kernelRelease()
	switch v := version(release); {
	case v == 0:
		return one("kernel", Note, "nothing, if a launch works", "the kernel calls itself %q, which is no version", release)
	case v < pidfdVersion:
		return one("kernel", Warning, "use Linux 5.3 or newer", "Linux %s has no pidfds to wait for: ends of ranks are seen later", release)
	case v < groupVersion:
		return one("kernel", Note, "use Linux 5.14 or newer where leftovers matter", "Linux %s has no cgroup.kill: attempts end by a sweep", release)
	default:
		return one("kernel", Good, "", "Linux %s", release)
	}
}

// version is 5_014 for "5.14.0-362.el9.x86_64", 0 for what is no version.
func version(release string) int {
	major, rest, _ := strings.Cut(release, ".")
	minor := rest
	if i := strings.IndexFunc(rest, func(c rune) bool { return c < '0' || c > '9' }); i >= 0 {
		minor = rest[:i]
	}
	a, errA := strconv.Atoi(major)
	b, errB := strconv.Atoi(minor)
	if errA != nil || errB != nil || a < 0 || a > 1000 || b > 999 {
		return 0
	}
	return a*1000 + b
}

func groups(_ context.Context, _ Subject) []Finding {
	parent, err := cgroup.Find()
	if err != nil {
		return one("cgroup", Note, "nothing: what is left of an attempt is found and ended by a sweep; a delegated cgroup v2 would make that certain",
			"%v", err)
	}
	return one("cgroup", Good, "", "attempts live in control groups of their own, below %s", parent.Path())
}

func limits(_ context.Context, s Subject) []Finding {
	if s.FileLimit > 0 && s.FileNeed > s.FileLimit {
		return one("limits", Problem, fmt.Sprintf("raise it: ulimit -n %d", 2*s.FileNeed), "%s need more than %d open files, and the limit is %d",
			ranks(s.LocalSize), s.FileNeed, s.FileLimit)
	}
	if s.FileLimit > 0 && s.FileLimit < 4096 {
		return one("limits", Warning, "raise it for the ranks' sake: ulimit -n 65536", "%d open files are few for data loaders", s.FileLimit)
	}
	return one("limits", Good, "", "open files: %s for %s", orNone(s.FileLimit), ranks(s.LocalSize))
}

func ranks(n int) string {
	if n == 1 {
		return "1 local rank"
	}
	return strconv.Itoa(n) + " local ranks"
}

func orNone(limit uint64) string {
	if limit == 0 {
		return "no limit"
	}
	return strconv.FormatUint(limit, 10)
}

// least is what /dev/shm should have: containers have 64 MiB by default, and data
// loaders of torch die of it with a bus error.
const least = 1 << 30

func sharedMemory(_ context.Context, _ Subject) []Finding {
	size, known := capacityOf("/dev/shm")
	switch {
	case !known:
		return one("shared memory", Note, "mount a tmpfs there if data loaders fail", "/dev/shm cannot be looked at")
	case size < least:
		return one("shared memory", Warning, "give the container more: --shm-size, or an emptyDir of medium Memory", "/dev/shm has %d MiB", size>>20)
	}
	return one("shared memory", Good, "", "/dev/shm has %d MiB", size>>20)
}

func gpus(_ context.Context, s Subject) []Finding {
	visible := s.Env["CUDA_VISIBLE_DEVICES"]
	switch {
	case !s.GPUsKnown && s.NProc == "gpu":
		return one("gpus", Problem, "look at nvidia-smi, or use --nproc N", "--nproc is gpu, and no GPU can be counted")
	case !s.GPUsKnown || s.GPUs == 0:
		return one("gpus", Note, "nothing, if the ranks need none; else look at nvidia-smi and CUDA_VISIBLE_DEVICES", "no GPU was found")
	case s.LocalSize > s.GPUs:
		return one("gpus", Warning, "use --nproc "+strconv.Itoa(s.GPUs)+", or make the ranks share on purpose", "%s have %d GPUs", ranks(s.LocalSize), s.GPUs)
	case s.LocalSize < s.GPUs:
		return one("gpus", Warning, "use --nproc gpu", "%d of %d GPUs would have no rank", s.GPUs-s.LocalSize, s.GPUs)
	}
	if visible != "" {
		return one("gpus", Good, "", "%d GPUs, by CUDA_VISIBLE_DEVICES=%s", s.GPUs, visible)
	}
	return one("gpus", Good, "", "%d GPUs", s.GPUs)
}
