//go:build !linux

package harness

import "errors"

// processesWith is not supported on this system: there is no /proc.
func processesWith(string) ([]string, error) { return nil, errors.ErrUnsupported }
