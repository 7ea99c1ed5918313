package ranks

import "strconv"

// A Request holds what the command line says (flags, or their variables: the
// caller has already decided which of the two holds) and what is known of this
// host. The zero value asks for one local rank on one node.
type Request struct {
	NProc    string // --nproc: "auto" (also ""), "gpu", "cpu" or a number
	NProcSet bool   // it was given, so that no scheduler's word counts

	NNodes     *int   // --nnodes; nil: not given
	NodeRank   *int   // --node-rank; nil: not given
	MasterAddr string // --master-addr; "": not given
	MasterPort int    // --master-port; 0: not given

	Scheduler string // --scheduler: "auto" (also ""), "none", "slurm" or "kubernetes"

	// MaxRestarts (--max-restarts) and HasRunID (whether anything but chance
	// named the run) matter only with several nodes: both need an agreement that
	// separate launchers do not have.
	MaxRestarts int
	HasRunID    bool

	// Program and Args are how the launcher was called: for the command line that is
	// proposed instead; asked for only then. nil: lenslaunch, and a placeholder.
	Program func() string
	Args    []string

	GPUs      int  // GPUs that the ranks of this host may use
	GPUsKnown bool // false: nobody could tell, which is not the same as none
	CPUs      int  // CPUs that this process may use

	Host string // name of this host, "": not known

	// Foreign reports whether pid is a live process of this host that is neither
	// this launcher nor one of its ancestors: see [ForeignProcess]. It unmasks
	// Slurm variables that a shell kept beyond their task. nil: believe them.
	Foreign func(pid int) bool

	// StepAbove names the step that Slurm's own process above this launcher runs, "" if
	// there is none to be seen: see the function [StepAbove]. It unmasks the variables of
	// a step in whose shell this job was submitted. nil: believe them.
	StepAbove func() string

	// Origin names where a flag's value really came from, by flag name:
	// {"--nproc": "LENSLAUNCH_NPROC"}. A flag that is not in it came from the
	// command line. Only the lines of [World.Why] and messages show it.
	Origin map[string]string
}

// from names the origin of a flag's value.
func (r *Request) from(flag string) string {
	if origin := r.Origin[flag]; origin != "" {
		return origin
	}
	return flag
}

// A UsageError is a request that cannot be met as it stands: exit code 2.
// Error is one line, whatever the values in it hold.
type UsageError struct {
	Problem string // what is wrong
	Hint    string // what would be right
}

func (e *UsageError) Error() string { return e.Problem + ": " + e.Hint }

// shown writes a value from outside into a message: as it is if it looks like a
// name, quoted if anything in it could break the line.
func shown(text string) string {
	for i := range len(text) {
		if !isNameByte(text[i]) && text[i] != ':' {
			return strconv.Quote(clip(text, 64))
		}
	}
	return clip(text, 64)
}
