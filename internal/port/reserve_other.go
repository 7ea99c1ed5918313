//go:build !linux

package port

import (
	"errors"
	"fmt"
)

// Reserve needs Linux's rules for SO_REUSEADDR.
func Reserve(Range, int) (*Reservation, error) { return nil, errUnsupported() }

// ReserveFixed needs Linux's rules for SO_REUSEADDR.
func ReserveFixed(int, int) (*Reservation, error) { return nil, errUnsupported() }

// Ephemeral is not known here.
func Ephemeral() (Range, bool) { return Range{}, false }

func errUnsupported() error {
	return fmt.Errorf("cannot reserve a port: not supported on this system: %w", errors.ErrUnsupported)
}
