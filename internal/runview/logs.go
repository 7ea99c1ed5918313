package runview

import (
	"bufio"
	"fmt"
	"io"
	"regexp"
	"slices"
	"time"

	"lenslaunch/internal/rundir"
)

// Logs is the merged output of a run: one line after the other in the order of time.
//
// Lines have no times of their own. For a stream that went through the launcher the
// order comes from the index that lies beside its file (package logtime), to 20 ms. A
// stream that a worker wrote to its file itself has none: followed live, its lines come
// as the file grows; afterwards all that is known is when the last was written, so they
// come together at that time.
//
// Of a progress bar the last state of each line is shown. A line of more than 64 KiB
// comes in pieces, as on the console.
type Logs struct {
	Dir     string
	Out     io.Writer
	Pick    func(rank int) bool                           // nil: all
	Attempt string                                        // name of the only one, empty: all
	Grep    *regexp.Regexp                                // lines to show, nil: all
	Prefix  func(rank, world int) (first, further string) // nil: none
	Now     func() time.Time
}

// barStep is how often a progress bar that goes on is shown.
const barStep = time.Second

// printer writes lines.
type printer struct {
	*Logs
	w      *bufio.Writer
	world  int
	width  map[int][2]string // prefixes by rank
	hidden map[source]bool   // the beginning of the line did not match
	shown  int               // attempts of which something may have been shown
}

func (l *Logs) printer() *printer {
	return &printer{Logs: l, w: bufio.NewWriterSize(l.Out, maxLine), width: map[int][2]string{}, hidden: map[source]bool{}}
}

// Show writes what there is.
func (l *Logs) Show() error {
	run, err := rundir.Read(l.Dir)
	if run == nil {
		return err
	}
	p := l.printer()
	p.world = max(run.WorldSize, run.Ranks)
	attempts := l.attempts(run)
	if len(attempts) == 0 && l.Attempt != "" {
		return &NoAttempt{Dir: l.Dir, Name: l.Attempt}
	}
	for _, a := range attempts {
		p.announce(a, run)
		o := newOutput(l.Dir, a.Name)
		err := o.pass(p, true)
		o.close()
		if err != nil {
			return err
		}
	}
	return p.flush()
}

// NoAttempt says that a run has no attempt of that name.
type NoAttempt struct{ Dir, Name string }

func (e *NoAttempt) Error() string { return e.Dir + " has no " + e.Name }

// attempts are those to show, each directory once: nodes that do not talk to each other
// may have continued one under its name.
func (l *Logs) attempts(run *rundir.Run) []rundir.AttemptRecord {
	var list []rundir.AttemptRecord
	for _, a := range run.Attempts {
		if l.Attempt != "" && a.Name != l.Attempt {
			continue
		}
		i := slices.IndexFunc(list, func(other rundir.AttemptRecord) bool { return other.Name == a.Name })
		if i < 0 {
			list = append(list, a)
			continue
		}
		list[i] = a
	}
	return list
}

// announce writes a line between two attempts. A search gets what it asked for and
// nothing else.
func (p *printer) announce(a rundir.AttemptRecord, run *rundir.Run) {
	p.shown++
	if p.shown == 1 || p.Grep != nil {
		return
	}
	why := ""
	for i, other := range run.Attempts {
		if other.Name == a.Name && i > 0 {
			why = ", after " + label(run.Attempts[i-1]) + " " + summary(run.Attempts[i-1])
		}
	}
	fmt.Fprintf(p.w, "--- %s began at %s%s ---\n", label(a), moment(a.Began), why)
}

// line writes a line, or a piece of one, if it is wanted.
func (p *printer) line(s source, one piece) {
	if !one.more {
		p.hidden[s] = p.Grep != nil && !p.Grep.Match(one.text)
	}
	if p.hidden[s] {
		return
	}
	prefix := p.prefixes(s.rank)
	start := prefix[0]
	if one.more {
		start = prefix[1]
	}
	// A Writer keeps its first error; flush tells it.
	_, _ = p.w.WriteString(start)
	_, _ = p.w.Write(one.text)
	_ = p.w.WriteByte('\n')
}

func (p *printer) prefixes(rank int) [2]string {
	texts, known := p.width[rank]
	if !known && p.Prefix != nil {
		texts[0], texts[1] = p.Prefix(rank, p.world)
		p.width[rank] = texts
	}
	return texts
}

func (p *printer) flush() error {
	if err := p.w.Flush(); err != nil {
		return fmt.Errorf("cannot write output: %w", err)
	}
	return nil
}
