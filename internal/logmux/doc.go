// Package logmux carries the output of many processes to one console without
// losing, altering or mixing a line.
//
// A Stream reads one pipe of one process and writes whole lines, each with its
// prefix, to a Sink. Every write to a Sink holds only whole lines of one stream, so
// lines of different streams never mix. A slow console slows the process that
// writes (back-pressure through the pipe); nothing is queued, so memory stays
// bounded by one buffer per stream. A console that goes away is dropped with one
// warning and the pipes are still read: a closed terminal must not kill a job.
//
//	pipe --> Stream (lines, prefix, tail) --> Sink (one write at a time) --> console
//
// A line longer than MaxLine comes in pieces. With a prefix each piece is a line of
// its own and the further ones start with the continuation prefix; joined they are
// the line. Without a prefix the pieces are written as they come.
//
// It knows nothing of ranks: the caller gives each stream its prefix.
// Source of the rules: the launch specification, "Output".
package logmux
