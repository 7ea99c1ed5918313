// Package runview shows a run to people, from what lies in its run directory and,
// while it lives, from /proc: what happened (Report, Page), what its ranks said (Logs)
// and what they are doing (Table).
//
//	run.json, events.jsonl --> rundir.Run --+--> Report    lines of text
//	                                        +--> WritePage one HTML file
//	rank files, their times --> Logs -------+--> merged output
//	rank files' ends, /proc --> Sampler ----+--> Table     lines of a screen
//
// Everything in a run directory is foreign: names, errors and output were written by
// workers, and the directory may have been written by another version, cut off in the
// middle or made up. The views show what is there, say what is missing, keep control
// characters from the reader's terminal and markup from the reader's browser, and
// bound what they make: a page has at most PageLimit bytes whatever the run was.
//
// It writes nothing into a run directory, sends nothing to any process and changes no
// terminal. Source: the launch specification, "Output", and issue 4.
package runview
