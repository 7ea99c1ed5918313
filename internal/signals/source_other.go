//go:build !linux || !(amd64 || arm64)

package signals

import (
	"errors"
	"syscall"
)

// Source is not supported here.
type Source struct{}

// Take is not supported here.
func Take(...syscall.Signal) (*Source, error) {
	return nil, errors.New("cannot take signals: not supported on this system")
}

// Next is not supported here.
func (*Source) Next() (Signal, error) { return Signal{}, errors.ErrUnsupported }

// Close does nothing.
func (*Source) Close() {}
