// Package harness runs the real lenslaunch binary for tests that start whole
// jobs: it builds it once, starts it in an environment that inherits nothing
// from the machine, and finds what a job leaves behind.
//
// It promises that two launches of one test binary share no directory, no run
// id and no variable. It does not interpret what the launcher prints, and it
// sees leftovers only where there is /proc.
//
// Source: issue 2, "Real parts in the tests".
package harness
