//go:build !linux

package screen

import "os"

// Screen is not supported here.
type Screen struct{}

// Open says that there is no terminal: what would be drawn is printed instead.
func Open(*os.File) (*Screen, error) { return nil, ErrNoTerminal }

// IsTerminal is not known here.
func IsTerminal(*os.File) bool { return false }

// Columns is not known here.
func Columns(*os.File) int { return 0 }

// Resume does nothing.
func (*Screen) Resume() error { return nil }

// Suspend does nothing.
func (*Screen) Suspend() error { return nil }

// Close does nothing.
func (*Screen) Close() error { return nil }

// Size is not known here.
func (*Screen) Size() (columns, lines int) { return 80, 24 }

// Draw does nothing.
func (*Screen) Draw([]string) error { return nil }

// Keys has none.
func (*Screen) Keys() <-chan Key { return nil }
