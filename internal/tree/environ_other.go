//go:build !linux

package tree

import "lenslaunch/internal/proc"

// readEnviron reads nothing: not supported on this system.
func readEnviron(_ proc.Stat, buf []byte) []byte { return buf[:0] }

// waitChannel is not supported on this system.
func waitChannel(int) string { return "" }
