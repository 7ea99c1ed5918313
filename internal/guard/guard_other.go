//go:build !linux

package guard

import (
	"errors"

	"lenslaunch/internal/proc"
)

// Word is the first argument that makes the binary a guard.
const Word = "_guard"

// Main is not supported here.
func Main() int { return 2 }

var errUnsupported = errors.New("cannot start the guard: not supported on this system")

// Client is not supported here.
type Client struct{ Child *proc.Child }

// Start is not supported here.
func Start(*proc.Spawner) (*Client, error) { return nil, errUnsupported }

// Attempt is not supported here.
func (*Client) Attempt(Attempt) error { return errUnsupported }

// Last is not supported here.
func (*Client) Last(Command) error { return errUnsupported }

// Leader is not supported here.
func (*Client) Leader(proc.ID) error { return errUnsupported }

// Reaped is not supported here.
func (*Client) Reaped(uint64) error { return errUnsupported }

// Over is not supported here.
func (*Client) Over() error { return errUnsupported }

// Bye does nothing.
func (*Client) Bye() {}
