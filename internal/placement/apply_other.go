//go:build !linux

package placement

import "errors"

var errUnsupported = errors.New("cannot bind to CPUs: not supported on this system")

// Apply is not supported here, except for the zero Binding, which changes nothing.
func Apply(b Binding) (restore func() error, err error) {
	if len(b.CPUs) > 0 || len(b.Nodes) > 0 {
		return nil, errUnsupported
	}
	return func() error { return nil }, nil
}

// CheckMemoryPolicy is not supported here.
func CheckMemoryPolicy() error { return errUnsupported }
