//go:build !linux

package runview

import "errors"

// readProcesses is not supported here: a table has no CPU and memory.
func readProcesses(string) ([]process, error) {
	return nil, errors.New("not supported on this system: processes are looked at in Linux's /proc")
}
