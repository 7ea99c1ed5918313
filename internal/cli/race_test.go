//go:build race

package cli

// raceDetector says that this binary is built with it.
const raceDetector = true
