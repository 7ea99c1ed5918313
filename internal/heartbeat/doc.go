// Package heartbeat tells when a worker has made no progress for too long.
//
// A Watch is one rank's bookkeeping, a value without a clock, timer or goroutine:
// whoever owns it says what happened and when, asks when to look next and sets one
// timer for that. Nothing wakes up more often than the earliest deadline asks for, so
// what can only be looked up (the time of the last output, the heartbeat file) is
// looked up then.
//
//	timer at Next(watches)
//	  |- the machine or the launcher stood still (Suspended, Late)? --> Fresh for all
//	  |- each rank: Output, File.Touched --> Progress, Touched
//	  '- Overdue? --> a hang;  else a new timer
//
// What counts (issue 3, "Hang detection"): output, a touched heartbeat file
// (LENSLAUNCH_HEARTBEAT_FILE), and progress by sd_notify. What does not count against
// a rank: time in which our own back-pressure holds it, in which the machine was
// suspended, or in which the launcher itself did not run (stopped by a scheduler, its
// virtual machine paused): whatever held the launcher held the ranks too, and after it
// they need time to find their network again. So all ranks get a whole new period.
//
// Times are those of time.Now, whose monotonic reading does the counting; a wall clock
// that is stepped changes nothing. It does not read output or messages, does not know
// why a rank stands still, and does not end it. A stop that ends well before the next
// look is not noticed by itself: tell of it by Fresh (SIGCONT does).
package heartbeat
