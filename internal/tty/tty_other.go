//go:build !linux

package tty

import (
	"errors"
	"os"
)

// Terminal is not supported here.
type Terminal struct{}

// Of finds no terminal here.
func Of(*os.File) (*Terminal, bool) { return nil, false }

var errUnsupported = errors.New("not supported on this system")

// Foreground is not supported here.
func (*Terminal) Foreground() (int, error) { return 0, errUnsupported }

// Mine is false here.
func (*Terminal) Mine() bool { return false }

// Give is not supported here.
func (*Terminal) Give(int) error { return errUnsupported }

// Take is not supported here.
func (*Terminal) Take(bool) (bool, error) { return false, errUnsupported }
