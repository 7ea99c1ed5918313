//go:build !linux

package openwork

import (
	"context"
	"errors"
	"os"
)

// ErrHeld says that another process works in the directory.
var ErrHeld = errors.New("another process works there")

var errUnsupported = errors.New("not supported on this system")

// Lock takes a directory for this process.
func Lock(string) (*os.File, error) { return nil, errUnsupported }

// Await is Lock that waits until ctx is over.
func Await(context.Context, string) (*os.File, error) { return nil, errUnsupported }

// InUse reports whether a process still has the journal mapped.
func InUse(string) bool { return false }
