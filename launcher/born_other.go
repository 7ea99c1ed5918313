//go:build !linux

package launcher

import "syscall"

// bornIn is not supported here: there are no control groups.
func bornIn(int) *syscall.SysProcAttr { return nil }
