//go:build !linux

package rundir

import "errors"

// notifier is not supported on this system: the timer does it alone.
type notifier struct{}

func newNotifier() (*notifier, error) { return nil, errors.New("not supported on this system") }

func (*notifier) add(string) {}
func (*notifier) run(func()) {}
func (*notifier) close()     {}
