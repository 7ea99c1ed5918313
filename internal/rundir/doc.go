// Package rundir keeps the directory of a run: every rank's output in files of its
// own, what happened in run.json and events.jsonl, and a lock, so that one launcher at a
// time writes there. A directory that exists is continued, also after a launcher was
// killed in the middle; nothing in it is overwritten.
//
//	DIR/run.lock               who writes here
//	DIR/run.json               command, ranks, attempts, outcomes
//	DIR/events.jsonl           everything that happened, one JSON object per line
//	DIR/latest                 symbolic link to the newest attempt
//	DIR/attempt-0/rank-3.out   what rank 3 wrote to stdout, and .err; rotated ones .1, .2, ...; .times
//
// With several nodes all but the attempts lies in DIR/node-<k>/, and each node's
// launcher has a lock of its own. docs/run-directory.md describes the files for others.
//
//	Open   make or find DIR -> lock -> read run.json -> write run.json
//	Begin  mkdir attempt-<n> -> run.json -> latest; then ranks may start
//	Update the run in memory -> temporary file, fsync, rename, fsync of the directory
//	Event  one write of one line; a line that the disk had no room for is taken back
//
// A crash between any two steps leaves a directory that the next launcher continues.
// A disk that is full costs records, never the job: it is told once, and what could not
// be written is counted. All text is written as valid UTF-8, its control characters
// escaped: a log must not steer the terminal of whoever reads it.
//
// Everything below DIR is reached through open directories and never through a symbolic
// link, and must belong to this user. Files get mode 0600 and directories 0700, whatever
// the umask.
//
// It does not move output (that is logmux), starts nothing, and decides nothing. Of
// COMMAND it keeps the first word and the number of arguments; of the environment only
// what the launcher itself sets.
//
// Source: the launch specification, "Output"; issue 4.
package rundir
