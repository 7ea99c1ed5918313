//go:build !linux

package doctor

import (
	"errors"
	"time"
)

func kernelRelease() string { return "" }

func capacityOf(string) (bytes uint64, known bool) { return 0, false }

func freeIn(string) (bytes uint64, kind string, known bool) { return 0, "", false }

func synchronised() (ok bool, off time.Duration, known bool) { return false, 0, false }

func lockable(uintptr) error { return errors.ErrUnsupported }
