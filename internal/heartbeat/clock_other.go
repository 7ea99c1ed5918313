//go:build !linux

package heartbeat

import "errors"

// Now is not supported here.
func Now() (Clock, error) {
	return Clock{}, errors.New("cannot read the clocks of a suspended machine: not supported on this system")
}
