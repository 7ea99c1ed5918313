package launcher

// Exit codes of lenslaunch (the launch specification, "Exit code"). A worker's own
// code, or 128 plus its signal, is passed through besides these.
const (
	ExitOK            = 0
	ExitUsage         = 2   // bad command line, configuration or ledger: nothing was started
	ExitInternal      = 70  // a bug in lenslaunch
	ExitTryAgain      = 75  // saved on request, coordination lost, reserved port taken: run me again
	ExitNotExecutable = 126 // COMMAND is there but cannot be executed
	ExitNotFound      = 127 // COMMAND is not there
	exitSignalBase    = 128 // plus the signal's number
	exitInStep        = 1   // stopped by a signal in a Slurm step: a peer's code must show
)

// ExitRow is a row of the table that help, README and docs show.
type ExitRow struct {
	Result string
	Code   string
}

// ExitTable is the whole table, in the order of the specification.
func ExitTable() []ExitRow {
	return []ExitRow{
		{"all workers exited 0", "0"},
		{"a worker failed (restarts used up)", "the cause's exit code; 128 + signal number if it was killed by one"},
		{"stopped by SIGTERM / SIGINT / SIGHUP / SIGQUIT, also if all ranks then exit 0", "143 / 130 / 129 / 131 (in a Slurm step: 1)"},
		{"stopped after a save request, run me again", "75"},
		{"usage or configuration error", "2"},
		{"COMMAND not executable / not found", "126 / 127"},
		{"internal error of the launcher (a bug)", "70"},
		{"coordination with the other nodes lost, reserved port taken: run me again", "75"},
	}
}

// Failure is an error that ends a run before or instead of its workers: what to
// print, and the code to exit with.
type Failure struct {
	Code    int
	Problem string // one line: what is wrong
	Hint    string // what would be right; may be empty
}

// Error is one line: the problem, and what would be right.
func (f *Failure) Error() string {
	if f.Hint == "" {
		return f.Problem
	}
	return f.Problem + ": " + f.Hint
}

// usage is a Failure with ExitUsage.
func usage(problem, hint string) *Failure {
	return &Failure{Code: ExitUsage, Problem: problem, Hint: hint}
}
