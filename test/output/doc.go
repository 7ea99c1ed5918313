// Package output proves that no byte of a rank's output is lost, altered or mixed with
// another's on its way to the console: several ways to write, each to a file, a pipe, a
// reader of 1 MB/s and a terminal; a reader that goes away; a terminal that is stopped;
// a rank that is killed in the middle of writing; a disk that is full. With a run
// directory the same goes for its files. It also holds the launcher's memory to
// a number.
//
// Everything is the real launcher; its ranks are the test binary again.
//
// Source: issue 4, "Prove it". Run by `make test-output`.
package output
