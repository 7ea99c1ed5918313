//go:build !linux

package notify

import (
	"errors"
	"time"
)

// Other systems attest the sender of a datagram in other ways or not at all.
var errUnsupported = errors.New("cannot listen for notifications: not supported on this system")

// Socket is not supported here.
type Socket struct{}

// Listen is not supported here.
func Listen(string, string) (*Socket, error) { return nil, errUnsupported }

// Path is empty.
func (*Socket) Path() string { return "" }

// Receive is not supported here.
func (*Socket) Receive(func(Message, time.Time)) error { return errUnsupported }

// Close does nothing.
func (*Socket) Close() error { return nil }
