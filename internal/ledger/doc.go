// Package ledger remembers the attempts of a job across invocations of the
// launcher: which were begun, with which numbers and UUID, and how each ended.
// A launcher that is started again, also after the previous one was killed in
// the middle, continues the count and never uses an attempt UUID twice.
//
// One job (or array element) is one small JSON file, <job uuid>[.<task>].json,
// mode 0600, beside a lock file of the same name with ".lock" added:
//
//	Begin:  lock -> read -> the caller computes the next attempt from the
//	        history -> write temporary file, fsync, rename, fsync directory
//	        -> unlock; only then does the caller start workers
//	End:    the same with the outcome of one attempt
//	Read:   no lock: a rename is atomic, so the file is always a whole one
//
// The lock is an flock on a file of its own. On the data file it would be
// worth nothing: the rename puts another inode in its place, and two writers
// would hold locks on two files. On the directory it would meet the lock of a
// run directory that serves as state directory too, and network file systems
// lock only what is open for writing. The lock file is never removed; after
// locking it is compared with what the name stands for, in case somebody else
// did remove it.
//
// A ledger that is corrupt, truncated or not this job's is a [*FileError] that
// names the file. It is never overwritten and never taken for an empty one.
//
// What it does not do: it starts no process, it derives no UUID, and it does
// not coordinate nodes. [Next] is the rule of the restart count as a pure
// function of history and inputs; [Uncoordinated] is the rule without one.
//
// Source: the identity specification, "The restart count" and "The ledger".
package ledger
