package placement

import (
	"fmt"
	"os"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Memory policies (linux/mempolicy.h), which x/sys does not name.
const (
	mpolPreferred = 1
	mpolLocal     = 4
)

// maxNodes is the number of nodes in a mask: what a unix.CPUSet holds, and as many as
// any kernel supports. The kernel wants to be told one more than it reads.
const maxNodes = int(unsafe.Sizeof(unix.CPUSet{})) * 8

// policy is a thread's memory policy.
type policy struct {
	mode  int // with the kernel's flags
	nodes unix.CPUSet
}

// bindMemory sets the thread's memory policy and returns how to set the old one, also
// after an error.
func bindMemory(nodes []int) (undo func() error, err error) {
	if len(nodes) == 0 {
		return nothing, nil
	}
	old, err := getPolicy()
	if err != nil {
		return nothing, err
	}
	want := policy{mode: mpolLocal}
	if len(nodes) == 1 {
		if nodes[0] < 0 || nodes[0] >= maxNodes-1 {
			return nothing, fmt.Errorf("there is no node %d", nodes[0])
		}
		want.mode = mpolPreferred
		want.nodes.Set(nodes[0])
	}
	if err := setPolicy(want); err != nil {
		return nothing, err
	}
	return func() error { return setPolicy(old) }, nil
}

func getPolicy() (policy, error) {
	var mode int32
	var p policy
	_, _, errno := unix.RawSyscall6(unix.SYS_GET_MEMPOLICY, uintptr(unsafe.Pointer(&mode)),
		uintptr(unsafe.Pointer(&p.nodes)), uintptr(maxNodes), 0, 0, 0)
	if errno != 0 {
		return policy{}, os.NewSyscallError("get_mempolicy", errno)
	}
	p.mode = int(mode)
	return p, nil
}

// setPolicy goes by x/sys's fixed mask: its dynamic one tells the kernel a number of
// bytes where bits are meant.
func setPolicy(p policy) error {
	return os.NewSyscallError("set_mempolicy", unix.SetMemPolicy(p.mode, &p.nodes))
}

// CheckMemoryPolicy says why this process may not choose where its memory comes from:
// a container's default seccomp profile forbids it without CAP_SYS_NICE, and a kernel
// without NUMA does not know the call. Then drop the Nodes of the bindings and say so
// once: the first touch by a bound thread takes memory of its own node anyway.
func CheckMemoryPolicy() error {
	runtime.LockOSThread() // it is the thread's policy that is read and set again
	defer runtime.UnlockOSThread()
	p, err := getPolicy()
	if err == nil {
		err = setPolicy(p)
	}
	if err != nil {
		return fmt.Errorf("cannot choose the memory of a NUMA node: %w", err)
	}
	return nil
}
