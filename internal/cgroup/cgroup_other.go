//go:build !linux

package cgroup

import (
	"context"
	"errors"
	"syscall"
)

// Control groups are Linux's. The package compiles elsewhere so that the rest can
// be developed there; Find always says that there is none.
var errUnsupported = errors.New("cannot use a control group: not supported on this system")

// Parent is never returned here.
type Parent struct{}

// Path is empty here.
func (*Parent) Path() string { return "" }

// Find is not supported here.
func Find() (*Parent, error) { return nil, errUnsupported }

// Create is not supported here.
func (*Parent) Create(string) (*Group, error) { return nil, errUnsupported }

// Stale finds nothing here.
func Stale(*Parent, func(pid int, start uint64) bool) []string { return nil }

// Group is never returned here.
type Group struct{}

// Open is not supported here.
func Open(string) (*Group, error) { return nil, errUnsupported }

// Probe is not supported here.
func (*Group) Probe() error { return errUnsupported }

// Sub is not supported here.
func (*Group) Sub(string) (*Group, error) { return nil, errUnsupported }

// FD is no descriptor here.
func (*Group) FD() int { return -1 }

// Path is empty here.
func (*Group) Path() string { return "" }

// Close does nothing.
func (*Group) Close() {}

// Pids is not supported here.
func (*Group) Pids() ([]int, error) { return nil, errUnsupported }

// Signal is not supported here.
func (*Group) Signal(syscall.Signal) (int, error) { return 0, errUnsupported }

// Kill is not supported here.
func (*Group) Kill() error { return errUnsupported }

// Empty is not supported here.
func (*Group) Empty() (bool, error) { return false, errUnsupported }

// WaitEmpty is not supported here.
func (*Group) WaitEmpty(context.Context) error { return errUnsupported }

// Remove is not supported here.
func (*Group) Remove() error { return errUnsupported }
