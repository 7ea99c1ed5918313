// Package output proves that no byte of a rank's output is lost, altered or mixed with
// another's on its way to the console: several ways to write, each to a file, a pipe, a
// reader of 1 MB/s and a terminal; a reader that goes away; a terminal that is stopped;
// a rank that is killed in the middle of writing. It also holds the launcher's memory to
// a number.
//
// What needs a file beside the console runs in a program of its own that uses
// internal/logmux as the launcher does; everything else is the real launcher.
//
// Source: issue 4, "Prove it". Run by `make test-output`.
package output
