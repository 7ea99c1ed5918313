// Package tree finds and ends the processes of one attempt where no control group
// holds them together.
//
// What belongs to an attempt (Finder), while nothing that is only similar does:
//   - every descendant of the launcher. It is a child subreaper, so that nothing
//     leaves the tree below it, whatever daemon it becomes;
//   - every process whose environment carries the attempt's Mark, exactly;
//   - the process groups of the ranks' leaders, and sessions that the attempt's own
//     processes made, as long as a process that is certainly the attempt's keeps
//     the number from being given to others;
//   - descendants of all these.
//
// Sweep ends them so that a process that forks all the time does not escape:
//
//	   ┌────────────── something new ──────────────┐
//	   ▼                                           │
//	SIGSTOP what is found ──nothing new──▶ SIGKILL all ──▶ wait (pidfds), reap ──▶ look again ──nothing──▶ done
//	   ▲______________│ until a pass finds nothing new, or passes and time are used up
//
// A process is known by pid *and* start time and signalled through a pidfd; facts
// about two processes (parent, group, session) are read again, the second process
// last, before anything follows from them: a pid that is recycled in between leads
// to a process that is left alone, never to a stranger that is signalled.
//
// It does not decide when to stop an attempt or with which signals, does not wait for
// own children (proc.Child) and does not touch control groups. A process of another
// user can be seen and named, not ended. One that has left everything above (own
// session, no mark) is found only while the launcher lives.
//
// Source: the launch specification, "The tree" and "Guard"; issue 3.
package tree
