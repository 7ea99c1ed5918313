// Package openwork finds what processes had open when they went, in the journals that
// they leave, and sees to it that it is exported, once.
//
//	DIR/journal/attempt-2/rank-3.spans       of a rank (package journal)
//	DIR/journal/launcher/4711-abc.spans      of a launcher's own spans
//	DIR/journal/lock                         who empties the directory
//	DIR/journal-at.json                      they lie elsewhere: DIR is on no local file system
//
// The life of a journal:
//
//	Create -> the process writes -> it goes -> Look -> Bury -> Keeper exports -> removed
//	                                    \__ its launcher goes too: the guard, the next launcher
//	                                        or a user calls Recover: Look -> exports -> removed
//
// Promise: a journal is removed only after what it holds has been exported, and is looked
// at by one process at a time, so its spans come out once. If the export fails it stays,
// with the time and reason of the death in it. Nothing here waits for a collector but
// [Keeper]'s own goroutine and [Recover].
//
// DIR is where a run keeps its files, or a directory of its own below $XDG_RUNTIME_DIR or the
// temp directory where the run has none.
//
// What it does not do: it exports nothing itself and knows no exporter; it decides on no
// process's death.
//
// Source: the telemetry specification, "Work open in the workers when they die"; the
// journal specification, "Rules".
package openwork
