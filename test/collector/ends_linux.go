package collector

import "syscall"

// endsWithTest has the kernel end the Collector when the tests are killed or panic.
func endsWithTest() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
