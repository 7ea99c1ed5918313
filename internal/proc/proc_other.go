//go:build !linux

package proc

import (
	"errors"
	"os/exec"
	"syscall"
	"time"
)

// Processes are supervised on Linux only: pidfds, parent-death signals and /proc
// have no equal elsewhere. The package compiles so that the rest can be developed
// and tested on other systems.
var (
	errUnsupported = errors.New("not supported on this system: lenslaunch starts workers on Linux only")

	// ErrReaped says that a child's status has been collected.
	ErrReaped = errors.New("the process has ended and was reaped")
)

// Stat is what this package needs of a process's state.
type Stat struct {
	ID
	Comm                   string
	State                  byte
	Parent, Group, Session int
	Threads                int
	Kernel                 bool
}

// ReadStat is not supported here.
func ReadStat(int) (Stat, error) { return Stat{}, errUnsupported }

// Spawner is not supported here.
type Spawner struct{}

// NewSpawner is not supported here.
func NewSpawner() (*Spawner, error) { return nil, errUnsupported }

// Close does nothing.
func (*Spawner) Close() {}

// Do runs f.
func (*Spawner) Do(f func()) { f() }

// Start is not supported here.
func (*Spawner) Start(*exec.Cmd) (*Child, error) { return nil, errUnsupported }

// Child is not supported here.
type Child struct{ ID }

// Wait is not supported here.
func (*Child) Wait() (Exit, error) { return Exit{}, errUnsupported }

// At is not supported here.
func (*Child) At() time.Time { return time.Time{} }

// Reap does nothing.
func (*Child) Reap() {}

// Signal is not supported here.
func (*Child) Signal(syscall.Signal) error { return errUnsupported }

// SignalGroup is not supported here.
func (*Child) SignalGroup(syscall.Signal) error { return errUnsupported }

// Ended is not supported here.
func (*Child) Ended() bool { return false }

// Stopped is not supported here.
func (*Child) Stopped() (syscall.Signal, error) { return 0, errUnsupported }

// StartDetached is not supported here.
func (*Spawner) StartDetached(*exec.Cmd) (*Child, error) { return nil, errUnsupported }

// StartBound is not supported here.
func (*Spawner) StartBound(*exec.Cmd, func() (func(), error)) (*Child, error) {
	return nil, errUnsupported
}
