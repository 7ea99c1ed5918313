//go:build faults && linux

package faults

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The forks of this file are those of C: no exec, so that a process is there for a
// millisecond only. A forked copy of a Go program has one thread and no scheduler, so
// nothing but raw system calls may follow, without a stack to grow.

// generations bounds a chain of forks to about a minute, whoever forgets it.
const generations = 30000

// forkerRole forks in two ways at once: a chain, in which each process forks the next
// and goes, so that no pid is worth anything a moment later; and a parent of many
// children that live for a moment.
func forkerRole() error {
	if err := say(); err != nil {
		return err
	}
	runtime.LockOSThread()
	line := []byte(strconv.Itoa(os.Getpid()) + "\n")
	// Signals find the parent by its other threads; the chain takes none but SIGKILL.
	all := ^uint64(0)
	if _, _, errno := syscall.RawSyscall6(syscall.SYS_RT_SIGPROCMASK, 0, uintptr(unsafe.Pointer(&all)), 0, 8, 0, 0); errno != 0 {
		return errno
	}
	if rawFork() == 0 {
		forkChain(line)
	}
	forkMany()
	return nil
}

//go:nosplit
func rawFork() uintptr {
	pid, _, errno := syscall.RawSyscall6(syscall.SYS_CLONE, uintptr(syscall.SIGCHLD), 0, 0, 0, 0, 0)
	if errno != 0 {
		rawExit()
	}
	return pid
}

//go:nosplit
func rawExit() { syscall.RawSyscall(syscall.SYS_EXIT_GROUP, 0, 0, 0) }

// rawPause is two milliseconds: enough forks to be a nuisance, and some CPU for the
// launcher that has to end them.
//
//go:nosplit
func rawPause() {
	pause := syscall.Timespec{Nsec: 2e6}
	syscall.RawSyscall(syscall.SYS_NANOSLEEP, uintptr(unsafe.Pointer(&pause)), 0, 0)
}

// forkChain says once that the chain exists, by the line of its maker.
//
//go:nosplit
func forkChain(line []byte) {
	syscall.RawSyscall(syscall.SYS_WRITE, sayFD, uintptr(unsafe.Pointer(&line[0])), uintptr(len(line)))
	for range generations {
		rawPause()
		if rawFork() != 0 {
			rawExit()
		}
	}
	rawExit()
}

//go:nosplit
func forkMany() {
	for range generations {
		pid := rawFork()
		if pid == 0 {
			rawPause()
			rawExit()
		}
		syscall.RawSyscall6(syscall.SYS_WAIT4, pid, 0, 0, 0, 0, 0)
	}
	rawExit()
}

// crash ends this process by a real invalid access, as a C extension would: without
// the runtime's handler, which would turn it into an exit code.
func crash() error {
	page, err := unix.Mmap(-1, 0, 4096, unix.PROT_NONE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS)
	if err != nil {
		return err
	}
	var fallback [4]uint64 // the kernel's struct sigaction, all zero: the default
	_, _, errno := syscall.RawSyscall6(syscall.SYS_RT_SIGACTION, uintptr(syscall.SIGSEGV), uintptr(unsafe.Pointer(&fallback)), 0, 8, 0, 0)
	if errno != 0 {
		return errno
	}
	return fmt.Errorf("read %d where nothing is", page[0])
}
