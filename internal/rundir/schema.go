package rundir

import "time"

// Schema is the version of run.json that this package writes. A field may be added
// without a new version: readers ignore what they do not know.
const Schema = 1

// How an attempt or a run ended, or has not.
const (
	OutcomeSuccess = "success" // every rank exited 0
	OutcomeFailed  = "failed"  // a rank failed
	OutcomeStopped = "stopped" // a signal to the launcher ended it
	OutcomeSaved   = "saved"   // every rank exited 0 after a save request: it is to be run again
	OutcomeRunning = "running" // no end is recorded, and its launcher lives or cannot be asked
	OutcomeUnknown = "unknown" // no end is recorded, and its launcher is gone
)

// ReasonSpawn is why a rank has no process: it could not be started. (The other reasons
// are the launcher's.)
const ReasonSpawn = "spawn"

// Run is what run.json says. [Read] merges those of several nodes into one.
//
// Times are in UTC. A zero time, an empty text and a nil number mean: not (yet) known.
type Run struct {
	Schema     int       `json:"schema"`
	RunID      string    `json:"run_id,omitempty"`
	JobUUID    string    `json:"job_uuid,omitempty"`
	Command    Command   `json:"command"`
	Role       string    `json:"role,omitempty"`
	Nodes      int       `json:"nodes"`      // of the whole run
	Node       int       `json:"node"`       // this one's place; the lowest one's after a merge
	WorldSize  int       `json:"world_size"` // ranks on all nodes
	Ranks      int       `json:"ranks"`      // on this node; on all nodes that have written after a merge
	Started    time.Time `json:"started,omitzero"`
	Ended      time.Time `json:"ended,omitzero"`
	Outcome    string    `json:"outcome,omitempty"` // Outcome...
	ExitCode   *int      `json:"exit_code,omitempty"`
	Problem    string    `json:"problem,omitempty"` // the run ended for a reason other than its workers
	Launcher   Launcher  `json:"launcher"`          // the latest
	Invocation int       `json:"invocation"`        // launchers of this directory before that one
	Why        []string  `json:"why,omitempty"`     // one line per decision of the latest launcher
	Dropped    int       `json:"dropped_attempts,omitempty"`

	// Attempts are in the order in which they began; last in the file, one per line.
	Attempts []AttemptRecord `json:"attempts"`

	// Seen is when the launcher last showed life, as far as is known. Only [Read] sets it.
	Seen time.Time `json:"-"`

	// Parts are the runs as the single nodes wrote them, in the order of nodes: what
	// this one was merged from. Only [Read] sets it.
	Parts []Run `json:"-"`
}

// Command is what may be said of COMMAND: arguments can hold secrets.
type Command struct {
	Program   string `json:"program"`   // its first word
	Arguments int    `json:"arguments"` // how many follow
}

// Launcher tells a launcher from every other process of every other machine.
type Launcher struct {
	Pid     int    `json:"pid"`
	Start   uint64 `json:"start,omitempty"` // clock ticks since boot, field 22 of /proc/<pid>/stat
	Host    string `json:"host,omitempty"`
	Version string `json:"version,omitempty"`

	// What a pid means depends on them. Open fills them in.
	Boot  string `json:"boot,omitempty"`   // the machine's boot id
	PidNS string `json:"pid_ns,omitempty"` // the pid namespace, as in /proc/self/ns/pid
}

// AttemptRecord is one attempt: from Begin until nothing of it is left.
type AttemptRecord struct {
	Name         string    `json:"name"`       // of its directory: attempt-3, attempt-2-st1
	Number       int       `json:"number"`     // the launcher's: TORCHELASTIC_RESTART_COUNT, LENSLAUNCH_ATTEMPT
	Invocation   int       `json:"invocation"` // which launcher began it, see Run
	RunID        string    `json:"run_id,omitempty"`
	UUID         string    `json:"uuid,omitempty"`          // nv.dl.run.uuid
	RestartCount *int64    `json:"restart_count,omitempty"` // slurm.restart_count
	Host         string    `json:"host,omitempty"`          // of the node's launcher
	MasterAddr   string    `json:"master_addr,omitempty"`
	MasterPort   int       `json:"master_port,omitempty"`
	Began        time.Time `json:"began"`
	Ended        time.Time `json:"ended,omitzero"` // nothing was left of it
	Outcome      string    `json:"outcome,omitempty"`

	Cause        *CauseRecord `json:"cause,omitempty"`        // of a failure
	Simultaneous int          `json:"simultaneous,omitempty"` // so many ranks, with the cause's, failed at the same time
	Failed       []int        `json:"failed,omitempty"`       // ranks that failed, the cause's first, in order of time
	Stopped      []int        `json:"stopped,omitempty"`      // ranks that the launcher stopped
	Signal       string       `json:"signal,omitempty"`       // told the launcher to stop: SIGTERM
	Left         []LeftRecord `json:"left,omitempty"`         // processes that could not be ended
	Next         *NextRecord  `json:"next,omitempty"`         // what follows
	Warnings     []string     `json:"warnings,omitempty"`     // what it had to do without

	// Env is what the launcher set for all ranks alike, only names that are its own
	// (see [OwnVariable]): never an inherited value or one of COMMAND's user.
	Env map[string]string `json:"env,omitempty"`

	// Trimmed: rank records and long texts were dropped because later attempts needed
	// the room. The events have them.
	Trimmed bool `json:"trimmed,omitempty"`

	// Ranks are in ascending order; last in the file, one per line.
	Ranks []RankRecord `json:"ranks"`
}

// RankRecord is one rank of one attempt.
type RankRecord struct {
	Rank     int       `json:"rank"`  // global
	Local    int       `json:"local"` // on its node
	Node     int       `json:"node"`
	Pid      int       `json:"pid,omitempty"`       // of its leader, 0: not started (yet)
	Start    uint64    `json:"start,omitempty"`     // of that process, clock ticks since boot; 0: not known
	Started  time.Time `json:"started,omitzero"`    //
	Ended    time.Time `json:"ended,omitzero"`      //
	ExitCode *int      `json:"exit_code,omitempty"` // nil: not ended, or by a signal
	Signal   string    `json:"signal,omitempty"`    // that killed it: SIGKILL
	Reason   string    `json:"reason,omitempty"`    // exit, signal, oom, hang, stopped; spawn: could not be started

	Doing *DoingRecord `json:"doing,omitempty"` // what it had open when it went, nil: not known or nothing

	Env map[string]string `json:"env,omitempty"` // as AttemptRecord.Env, where it differs from rank to rank
}

// CauseRecord is the failure that decided.
type CauseRecord struct {
	Rank     int       `json:"rank"`
	Local    int       `json:"local"`
	Node     int       `json:"node"`
	Pid      int       `json:"pid,omitempty"` // 0: it could not be started
	At       time.Time `json:"at,omitzero"`
	ExitCode *int      `json:"exit_code,omitempty"`
	Signal   string    `json:"signal,omitempty"`
	Reason   string    `json:"reason,omitempty"`  // as RankRecord.Reason
	Why      string    `json:"why,omitempty"`     // what it means, in words: "SIGKILL: killed by the kernel for memory, ..."
	Message  string    `json:"message,omitempty"` // the error it reported, may have several lines
	Stderr   []string  `json:"stderr,omitempty"`  // else its last lines of stderr
	Unseen   bool      `json:"unseen,omitempty"`  // stderr did not pass the launcher or a file
}

// LeftRecord is a process of an attempt that outlived SIGKILL.
type LeftRecord struct {
	Pid     int    `json:"pid"`
	Program string `json:"program,omitempty"`
	Why     string `json:"why,omitempty"` // "uninterruptible sleep in nfs_wait"
}

// NextRecord is what follows an attempt.
type NextRecord struct {
	Restart bool          `json:"restart"`
	Delay   time.Duration `json:"delay_ns,omitempty"` // before the restart
	Reason  string        `json:"reason,omitempty"`   // "restart 1 of 3"
}
