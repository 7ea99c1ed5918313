//go:build !linux

package logmux

import "io"

// isTerminal is not supported on this system: every console is taken for a file.
func isTerminal(io.Writer) bool { return false }

// columns is not known on this system.
func columns(io.Writer) int { return 0 }

func awaitWritable(io.Writer) bool { return false }
