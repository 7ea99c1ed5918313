// Package logtime remembers when each part of a log file was written, so that the
// logs of many processes can be shown in the order of time although their lines have
// no times of their own.
//
// A Writer is told whenever a log has grown, and keeps an index beside it: the log's name
// plus Suffix. An entry says "by this time the log was so long". Entries are at
// least Step apart and take about four bytes, so an index is a few percent of its
// log at most; a process that says nothing costs nothing. A Reader gives the entries
// back and stops at what is no index, since the process that wrote it may have been
// killed in the middle.
//
// It knows nothing of the log but its length: an index that cannot be written is given
// up, and the log goes on. It does not know what a line is. Sizes count what went through the log in
// its whole life: one that is rotated goes on counting.
//
// Source of the need: issue 4, "one merged, time-ordered view of a run"; the format is
// this package's own.
package logtime

import "time"

// Suffix of an index's name, behind the name of its log.
const Suffix = ".times"

// Step is the least time between two entries of an index: what is written within it
// counts as written at once.
const Step = 20 * time.Millisecond

// Entry says how long a log was at some time.
type Entry struct {
	At  time.Time // rounded down to milliseconds
	End int64     // bytes that had been written by then
}
