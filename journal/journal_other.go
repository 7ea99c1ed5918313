//go:build !linux

package journal

import (
	"errors"
	"os"
)

// Workers run on Linux only, and so do journals. The package compiles so that a
// program that uses it does.
var errUnsupported = errors.New("not supported on this system")

// ErrClaimed says that another process writes the journal or has written it.
var ErrClaimed = errors.New("another process writes it")

func openMapping(string) ([]byte, error) { return nil, errUnsupported }

func openFile(string, int, int) (*os.File, error) { return nil, errUnsupported }

func create(string, []string, []byte, int) error { return errUnsupported }

func thin(*os.File) {}
