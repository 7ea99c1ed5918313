package launcher

import (
	"fmt"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"lenslaunch/internal/openwork"
	"lenslaunch/internal/wording"
)

// Report is what the launcher prints when an attempt failed: the cause, the first
// error that its rank reported, the consequences in one line, and what happens next.
// Lines are without the launcher's name and without line ends.
func (p *Plan) Report(e AttemptEnded) []string {
	cause := e.Faults[0]
	lines := []string{p.headline(cause, e)}
	if cause.Cause == nil {
		lines = append(lines, e.Evidence.lines()...)
	}
	if text := wasDoing(e.Open, cause.Rank); text != "" {
		lines = append(lines, "  it had open: "+text)
	}
	if text := consequences(e); text != "" {
		lines = append(lines, "  consequences: "+text)
	}
	for _, l := range e.Left {
		lines = append(lines, "  left behind: "+l.String())
	}
	if p.RunDir != "" && e.Attempt.Name != "" {
		lines = append(lines, fmt.Sprintf("  logs: %s, of this rank rank-%d.out and .err", filepath.Join(p.RunDir, e.Attempt.Name), cause.Rank))
	}
	return append(lines, "  next: "+next(e, cause))
}

func (p *Plan) headline(cause Fault, e AttemptEnded) string {
	if cause.Cause != nil {
		return fmt.Sprintf("rank %d could not be started: %v", cause.Rank, cause.Cause)
	}
	return fmt.Sprintf("rank %d failed: %s (local rank %d, pid %d, attempt %d, after %v)",
		cause.Rank, cause.what(), cause.Local, cause.Pid, e.Attempt.Number, round(cause.At.Sub(e.Began)))
}

// why is what for records, where a rank that never ran is no different.
func (f Fault) why() string {
	if f.Cause != nil {
		return fmt.Sprintf("could not be started: %v", f.Cause)
	}
	return f.what()
}

// reason is why the rank ended.
func (f Fault) reason() Reason {
	switch {
	case f.Silent > 0:
		return ReasonHang
	case f.OOM != "":
		return ReasonOOM
	case f.Exit.Signal != 0:
		return ReasonSignal
	}
	return ReasonExit
}

// what says how a rank failed, and what that means where it is not plain.
func (f Fault) what() string {
	switch {
	case f.Silent > 0:
		return fmt.Sprintf("hang: no progress for %v; it was stopped, %v", round(f.Silent), f.Exit)
	case f.OOM != "":
		return fmt.Sprintf("%v: %s", f.Exit, f.OOM)
	}
	if meaning := meanings()[f.Exit.Signal]; meaning != "" {
		return fmt.Sprintf("%v: %s", f.Exit, meaning)
	}
	return f.Exit.String()
}

// meanings are what a signal that we did not send usually says.
func meanings() map[syscall.Signal]string {
	return map[syscall.Signal]string{
		syscall.SIGSEGV: "invalid memory access",
		syscall.SIGBUS:  "invalid memory access, or a full /dev/shm or file system behind a mapping",
		syscall.SIGABRT: "aborted itself, as after a failed assertion",
		syscall.SIGILL:  "an instruction that this CPU does not have",
		syscall.SIGFPE:  "arithmetic error",
		syscall.SIGKILL: "killed by another process, or by the kernel",
		syscall.SIGTERM: "asked to end by another process",
		syscall.SIGINT:  "interrupted by another process",
		syscall.SIGHUP:  "hung up by another process",
		syscall.SIGPIPE: "wrote to a pipe that nobody reads",
		syscall.SIGXCPU: "used up its CPU time limit",
		syscall.SIGSYS:  "a system call that a filter forbids",
	}
}

func (v Evidence) lines() []string {
	var out []string
	add := func(title string, text []string) {
		out = append(out, "  "+title)
		for _, line := range text {
			out = append(out, "    "+printable(line))
		}
	}
	switch {
	case v.Message != "":
		add("the error it reported:", strings.Split(strings.TrimRight(v.Message, "\n"), "\n"))
	case len(v.Stderr) > 0:
		add("its last lines of stderr:", v.Stderr)
	case v.Unseen:
		out = append(out, "  its stderr went straight to the console, above")
	default:
		out = append(out, "  it wrote nothing to stderr")
	}
	return out
}

// shownSpans bounds a line: of spans in spans the innermost say most.
const shownSpans = 8

// wasDoing is what a rank was at when it went, from its journal: the outermost span first.
func wasDoing(open []openwork.Work, rank int) string {
	for _, w := range open {
		if w.Rank != rank {
			continue
		}
		var parts []string
		spans := openwork.Doing(w.Spans)
		if outer := len(spans) - shownSpans; outer > 0 {
			parts, spans = []string{fmt.Sprintf("%d more", outer)}, spans[outer:]
		}
		for _, s := range spans {
			parts = append(parts, fmt.Sprintf("%s (%v)", onLine(s.Name), round(max(0, w.End.Sub(s.Start)))))
		}
		return strings.Join(parts, " > ")
	}
	return ""
}

// consequences says what happened to the others.
func consequences(e AttemptEnded) string {
	var same, after []int
	for i, f := range e.Faults[1:] {
		if i+1 < e.Simultaneous {
			same = append(same, f.Rank)
		} else {
			after = append(after, f.Rank)
		}
	}
	var parts []string
	for _, part := range []struct {
		ranks []int
		what  string
	}{{same, " failed at the same time, within 2 ms"}, {after, " failed after it"}, {e.Stopped, " stopped"}} {
		if len(part.ranks) > 0 {
			parts = append(parts, plural(part.ranks)+part.what)
		}
	}
	return strings.Join(parts, "; ")
}

func plural(list []int) string {
	if len(list) == 1 {
		return "rank " + wording.Spans(list)
	}
	return "ranks " + wording.Spans(list)
}

// next says what follows, and with which code if the run ends.
func next(e AttemptEnded, cause Fault) string {
	if e.Next.Restart {
		return fmt.Sprintf("%s in %v", e.Next.Reason, round(e.Next.Delay))
	}
	if e.Outcome == OutcomeStopped {
		return fmt.Sprintf("no restart: %s; exit code %d", e.Next.Reason, e.Told.Code())
	}
	return fmt.Sprintf("no restart: %s; exit code %d", e.Next.Reason, cause.Exit.ShellCode())
}

// round makes a time readable: three digits at the most.
func round(d time.Duration) time.Duration {
	switch {
	case d >= time.Minute:
		return d.Round(time.Second)
	case d >= time.Second:
		return d.Round(10 * time.Millisecond)
	default:
		return d.Round(100 * time.Microsecond)
	}
}
