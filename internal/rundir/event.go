package rundir

import "time"

// Kinds of events. Others may be added: readers show what they do not know by its
// name.
const (
	RunBegan         = "run_began"         // a launcher has opened the directory
	AttemptPreparing = "attempt_preparing" // an attempt is about to be counted
	AttemptBegan     = "attempt_began"     // its directory exists, ranks are about to start
	RankStarted      = "rank_started"
	RanksStarted     = "ranks_started" // all of this node; Count
	RankEnded        = "rank_ended"    // Reason says why
	RankFailed       = "rank_failed"   // nobody asked for this end; First: it decides
	RankDoing        = "rank_doing"    // what it had open when it went; Doing
	SignalTaken      = "signal_taken"  // the launcher received Signal; Message: what follows
	StopBegan        = "stop_began"    // ranks are asked to end; Signal, Count of them alive
	StopEscalated    = "stop_escalated"
	RanksStuck       = "ranks_stuck" // SIGKILL did not end Pids
	GuardGone        = "guard_gone"
	StepGone         = "step_gone"     // Pid, Slurm's process of the step, has ended: ranks are stopped
	AttemptEnded     = "attempt_ended" // nothing of it is left; Outcome, Cause, Next
	RunEnded         = "run_ended"     // Outcome, ExitCode
	EventsLost       = "events_lost"   // Count events could not be written before this one
)

// Event is one line of events.jsonl. Only Time, Mono and Kind are always set.
type Event struct {
	Time    time.Time `json:"time"`              // wall clock, UTC; of the event, not of its writing
	Mono    int64     `json:"mono_ns"`           // the node's monotonic clock since boot; comparable within one boot
	Kind    string    `json:"event"`             // RunBegan, ...
	Node    int       `json:"node"`              // who says it
	Attempt string    `json:"attempt,omitempty"` // the attempt's name
	Number  *int      `json:"number,omitempty"`  // the attempt's number
	UUID    string    `json:"uuid,omitempty"`    // the attempt's
	Restart *int64    `json:"restart_count,omitempty"`
	Rank    *int      `json:"rank,omitempty"`  // global
	Local   *int      `json:"local,omitempty"` //
	Pid     int       `json:"pid,omitempty"`   //
	Pids    []int     `json:"pids,omitempty"`  //
	Count   int       `json:"count,omitempty"` // of ranks, or of events lost
	First   bool      `json:"first,omitempty"` // RankFailed: this one decides

	ExitCode *int          `json:"exit_code,omitempty"`
	Signal   string        `json:"signal,omitempty"` // SIGTERM
	Reason   string        `json:"reason,omitempty"`
	Uptime   time.Duration `json:"uptime_ns,omitempty"`
	Message  string        `json:"message,omitempty"` // in words
	Warnings []string      `json:"warnings,omitempty"`

	Outcome      string       `json:"outcome,omitempty"`
	Cause        *CauseRecord `json:"cause,omitempty"`
	Simultaneous int          `json:"simultaneous,omitempty"`
	Failed       []int        `json:"failed,omitempty"`
	Stopped      []int        `json:"stopped,omitempty"`
	Left         []LeftRecord `json:"left,omitempty"`
	Next         *NextRecord  `json:"next,omitempty"`
	Doing        *DoingRecord `json:"doing,omitempty"`

	RunID    string    `json:"run_id,omitempty"`   // RunBegan
	Command  *Command  `json:"command,omitempty"`  // RunBegan
	Launcher *Launcher `json:"launcher,omitempty"` // RunBegan
}
