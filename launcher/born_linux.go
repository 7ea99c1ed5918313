package launcher

import "syscall"

// bornIn makes a process start its life in a control group: moved there later, what it
// has started until then stays outside.
func bornIn(group int) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{UseCgroupFD: true, CgroupFD: group}
}
