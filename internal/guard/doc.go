// Package guard ends what a launcher leaves behind when it is killed.
//
// The guard is the same binary in a session of its own, with signals ignored and
// stdio on /dev/null. It holds the read end of a pipe; the launcher holds the write
// end and tells on it what the current attempt consists of. When the pipe ends
// without a farewell, the launcher is gone: the guard ends the attempt's processes,
// notes the end in the ledger, runs the command that the launcher left for this case
// (which exports what was open), and exits.
//
//	launcher ──attempt, leader, leader, ... , over, attempt, ... , bye──▶ guard
//	launcher ──attempt, leader, leader, ... (killed)────────── EOF ─────▶ guard: end it all
//
// It never waits for the launcher and the launcher never waits for it: a message is
// small and a pipe takes it at once, or the guard is taken for lost. A guard that
// dies costs nothing but its replacement.
//
// It decides nothing about what belongs to an attempt: packages tree and cgroup do.
// Source: the launch specification, "Guard"; issue 3.
package guard
