//go:build amd64 || arm64

package signals

import (
	"fmt"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// action is the kernel's struct sigaction on these systems.
type action struct {
	handler, flags, restorer uintptr
	mask                     uint64
}

// What the runtime's handler has, and ours needs (asm-generic/signal-defs.h): the
// siginfo as its second argument, and a stack, because a goroutine's is too small for
// what the kernel puts there.
const needed = 0x0000_0004 | 0x0800_0000 // SA_SIGINFO | SA_ONSTACK

// runtimes is the handler that the runtime installs for every signal: SIGURG has it from
// the start of each program, to preempt goroutines.
func runtimes() (uintptr, error) {
	a, err := get(syscall.SIGURG)
	if err != nil {
		return 0, err
	}
	if a.flags&needed != needed {
		return 0, fmt.Errorf("the runtime's signal handler has flags %#x", a.flags)
	}
	return a.handler, nil
}

// runtimeOwn reports whether the runtime itself acts on a signal, besides passing it on:
// faults are panics, and need their context; it preempts by SIGURG and profiles by
// SIGPROF; SIGPIPE is an error of a write.
func runtimeOwn(sig syscall.Signal) bool {
	switch sig {
	case syscall.SIGSEGV, syscall.SIGBUS, syscall.SIGFPE, syscall.SIGILL, syscall.SIGTRAP, syscall.SIGSYS,
		syscall.SIGSTKFLT, syscall.SIGABRT, syscall.SIGURG, syscall.SIGPROF, syscall.SIGPIPE:
		return true
	}
	return false
}

func get(sig syscall.Signal) (action, error) {
	var a action
	err := sigaction(sig, nil, &a)
	return a, err
}

func set(sig syscall.Signal, a action) error { return sigaction(sig, &a, nil) }

// sigaction is the system call and not the C library's function: that one would put its
// own way back into an action that has one.
func sigaction(sig syscall.Signal, to, before *action) error {
	_, _, errno := unix.RawSyscall6(unix.SYS_RT_SIGACTION, uintptr(sig),
		uintptr(unsafe.Pointer(to)), uintptr(unsafe.Pointer(before)), unsafe.Sizeof(action{}.mask), 0, 0)
	if errno != 0 {
		return fmt.Errorf("signal %d: %w", int(sig), errno)
	}
	return nil
}
