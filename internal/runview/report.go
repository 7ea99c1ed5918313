package runview

import (
	"fmt"
	"strings"
	"time"

	"lenslaunch/internal/rundir"
)

// Bounds of the text report; the page has its own.
const (
	reportAttempts = 40
	reportEntries  = 40
)

// Report tells a run in lines: the verdict, the cause with its error, the attempts,
// and the last of them in the order of time. now is when the reader asks.
func Report(r *Run, now time.Time) []string {
	lines := r.head(now)
	if a := r.deciding(); a != nil {
		lines = append(lines, r.causeLines(*a)...)
	}
	lines = append(lines, r.attemptLines(now)...)
	lines = append(lines, r.doingLines()...)
	if n := len(r.Attempts); n > 0 {
		lines = append(lines, r.chronicleLines(r.Attempts[n-1])...)
	}
	return append(lines, r.remarks()...)
}

// fact is a line of the head: what, and its value.
type fact struct{ name, value string }

func (r *Run) head(now time.Time) []string {
	lines := []string{fmt.Sprintf("run %s: %s", r.name(), r.verdict())}
	for _, f := range r.facts(now) {
		lines = append(lines, fmt.Sprintf("  %-12s%s", f.name, f.value))
	}
	return lines
}

// name is the run's, or that of its directory.
func (r *Run) name() string {
	if r.RunID != "" {
		return short(r.RunID, 120)
	}
	return short(r.Dir, 120)
}

// facts are what identifies a run. Texts are clean.
func (r *Run) facts(now time.Time) []fact {
	list := []fact{
		{"command", short(r.Command.Program, 120)},
		{"ranks", r.size()},
		{"began", moment(r.Started)},
		{"lasted", lasted(r.end(now).Sub(r.Started))},
		{"attempts", fmt.Sprintf("%d, %s", len(r.Attempts)+r.Dropped, count(r.restarts(), "restart"))},
	}
	if n := r.Command.Arguments; n > 0 {
		list[0].value += " and " + count(n, "argument")
	}
	if r.Live() {
		list[3].name = "so far"
	}
	if r.Launcher.Pid != 0 {
		launcher := fmt.Sprintf("pid %d", r.Launcher.Pid)
		if r.Launcher.Version != "" {
			launcher = short(r.Launcher.Version, 60) + ", " + launcher
		}
		list = append(list, fact{"launcher", launcher})
	}
	if r.JobUUID != "" {
		list = append(list, fact{"job UUID", short(r.JobUUID, 60)})
	}
	return append(list, fact{"directory", oneLine(r.Dir)})
}

// size is how large the run is: "8 on 2 nodes (gpu-01, gpu-02)".
func (r *Run) size() string {
	text := fmt.Sprintf("%d on %s", max(r.WorldSize, r.Ranks), count(max(r.Nodes, 1), "node"))
	var names []string
	hosts := r.hosts()
	for node := range max(r.Nodes, 1) {
		if host := hosts[node]; host != "" && len(names) < 4 {
			names = append(names, short(host, 60))
		}
	}
	if len(names) > 0 && len(names) < len(hosts) {
		names = append(names, "…")
	}
	if len(names) > 0 {
		text += " (" + strings.Join(names, ", ") + ")"
	}
	if r.Role != "" {
		text += ", role " + short(r.Role, 60)
	}
	return text
}

func (r *Run) causeLines(a rundir.AttemptRecord) []string {
	c, ok := r.causeOf(a)
	if !ok {
		return nil
	}
	lines := []string{"", r.occasion(a) + ": " + c.headline, "  " + c.where}
	if c.text != "" {
		lines = append(lines, "  "+c.title+":")
		lines = append(lines, indented(c.text, "    ")...)
	} else {
		lines = append(lines, "  "+c.missing)
	}
	for _, f := range []fact{{"it had open", c.doing}, {"consequences", c.effects}, {"next", c.next}, {"its errors", c.file}} {
		if f.value != "" {
			lines = append(lines, "  "+f.name+": "+f.value)
		}
	}
	return lines
}

func (r *Run) attemptLines(now time.Time) []string {
	if len(r.Attempts) == 0 {
		return []string{"", "no attempt has begun"}
	}
	lines := []string{"", "attempts"}
	shown := r.Attempts
	if over := len(shown) - reportAttempts; over > 0 {
		shown = shown[over:]
		lines = append(lines, fmt.Sprintf("  … %d earlier …", over+r.Dropped))
	}
	width := 0
	for _, a := range shown {
		width = max(width, len(label(a)))
	}
	for _, a := range shown {
		text := fmt.Sprintf("  %-*s  %s  %7s  %s", width, label(a), stamp(a.Began), lasted(r.attemptEnd(a, now).Sub(a.Began)), summary(a))
		if a.Next != nil && a.Next.Restart {
			text += "; " + next(a)
		}
		lines = append(lines, text)
	}
	return lines
}

// label is an attempt's name on a line.
func label(a rundir.AttemptRecord) string { return short(a.Name, 40) }

// titled is the name with the number that workers know, where that is another.
func titled(a rundir.AttemptRecord) string {
	if a.Name == rundir.UncoordinatedName(int64(a.Number), 0) {
		return label(a)
	}
	return fmt.Sprintf("%s (attempt %d)", label(a), a.Number)
}

func (r *Run) chronicleLines(a rundir.AttemptRecord) []string {
	lines := []string{"", fmt.Sprintf("%s from %s", titled(a), moment(a.Began))}
	for _, e := range r.chronicle(a, reportEntries) {
		lines = append(lines, fmt.Sprintf("  %9s  %s%s", since(e.at, a.Began), e.who(), e.text))
	}
	for _, left := range a.Left {
		lines = append(lines, "  left behind: "+leftWords(left))
	}
	return lines
}

func leftWords(l rundir.LeftRecord) string {
	text := fmt.Sprintf("pid %d", l.Pid)
	if l.Program != "" {
		text += " (" + short(l.Program, 60) + ")"
	}
	if l.Why != "" {
		text += ": " + short(l.Why, 200)
	}
	return text
}

// remarks are what else a reader should know.
func (r *Run) remarks() []string {
	var lines []string
	if r.Problem != "" {
		lines = append(lines, "the run ended because: "+short(r.Problem, 400))
	}
	if r.Torn != nil {
		lines = append(lines, "not all of it could be read: "+short(r.Torn.Error(), 400))
	}
	if n := len(r.parts()); n > 0 && n < r.Nodes {
		lines = append(lines, fmt.Sprintf("only %d of %d nodes have written here", n, r.Nodes))
	}
	if len(lines) > 0 {
		lines = append([]string{""}, lines...)
	}
	return lines
}
