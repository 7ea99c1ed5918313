// Package stress has no code of its own: its tests (build tag stress, run by
// `make test-stress`) start many launches side by side on one machine, which
// is what a CI host or a login node does to a launcher.
//
// Source: issue 2, "200 launches of 2 ranks each side by side on one host".
package stress
