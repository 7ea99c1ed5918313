// Package proc starts child processes, learns of their end and signals them, so
// that no signal ever reaches a process that is not ours.
//
// Promises:
//   - A Spawner starts every child from one locked operating system thread that
//     lives as long as the Spawner: a parent-death signal follows the *thread*
//     that forked (golang/go#27505), and per-child thread attributes (signal mask,
//     later affinity and memory policy) must not leak into other goroutines.
//   - A Child has exactly one waiter. Its end is seen by the runtime poller through
//     its pidfd, so that hundreds of children hold no threads; its status is
//     peeked first and collected later, by Reap. Between the two the child is a
//     zombie that pins its pid, so its process group can be signalled safely.
//   - Signals go through the pidfd; a stored pid is compared with the process's
//     start time before it is used (ID), since pids are recycled. A Handle is the same
//     for a process that is no child.
//   - Orphans that this process adopts (BecomeSubreaper) are collected by ReapOrphans,
//     pid by pid, on the thread that starts children: the status of a Child is never
//     taken from its waiter.
//   - Walk lists exactly the descendants of a process; what cannot be looked at is an
//     error, never an empty list.
//
// States of a Child:
//
//	started --(pidfd readable)--> ended, not reaped --(Reap)--> reaped
//	   \___ Signal, SignalGroup ok ___/                Signal: ErrReaped
//
// It does not decide when to signal or restart, and knows nothing of ranks.
// Source of the rules: the launch specification, "Reaping" and "The tree".
package proc
