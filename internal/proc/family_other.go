//go:build !linux

package proc

import (
	"context"
	"syscall"
)

// Now is not supported here.
func Now() (uint64, error) { return 0, errUnsupported }

// Scan is not supported here.
func Scan(func(Stat)) (int, error) { return 0, errUnsupported }

// All is not supported here.
func All() ([]Stat, error) { return nil, errUnsupported }

// Descendants is not supported here.
func Descendants(ID, func(ID) bool) ([]Stat, error) { return nil, errUnsupported }

// Walk is not supported here.
func Walk(ID, func(Stat) bool) error { return errUnsupported }

// BecomeSubreaper is not supported here.
func BecomeSubreaper() error { return errUnsupported }

// ReapOrphans finds none.
func (*Spawner) ReapOrphans() int { return 0 }

// Strangers finds none.
func (*Spawner) Strangers() []ID { return nil }

// Aside runs f.
func (*Spawner) Aside(f func()) { f() }

// Handle is not supported here.
type Handle struct{ ID }

// Hold is not supported here.
func Hold(ID) (*Handle, error) { return nil, errUnsupported }

// Refer is not supported here.
func Refer(ID) (*Handle, error) { return nil, errUnsupported }

// Close does nothing.
func (*Handle) Close() {}

// Signal is not supported here.
func (*Handle) Signal(syscall.Signal) error { return errUnsupported }

// Gone is always true: no handle can be made.
func (*Handle) Gone() bool { return true }

// Wait is not supported here.
func (*Handle) Wait(context.Context) error { return errUnsupported }
