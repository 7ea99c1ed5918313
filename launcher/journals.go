package launcher

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"strconv"
	"time"

	"go.opentelemetry.io/otel/trace"

	"lenslaunch/internal/openwork"
	"lenslaunch/internal/proc"
	"lenslaunch/internal/rundir"
	"lenslaunch/journal"
)

// traced is what the ranks of an attempt get of telemetry, by local rank.
type traced struct {
	spans    []trace.SpanID // of their lenslaunch.worker spans, decided before they start; nil: none
	journals []string       // paths, empty: none
	ends     []WorkerEnded  // how they went, zero: they have not
	open     openWork
}

// openWork is what ranks had open when they went, and what could not be found out.
type openWork struct {
	work     []openwork.Work
	problems []string
}

// trace decides the ids of the ranks' spans and makes their journals. A job does not fail
// for want of a journal.
func (e *effects) trace(run *running) {
	n := len(run.children)
	run.traced = traced{journals: make([]string, n), ends: make([]WorkerEnded, n)}
	if e.plan.Traced.Run.IsSampled() {
		run.spans = make([]trace.SpanID, n)
		for local := range run.spans {
			binary.LittleEndian.PutUint64(run.spans[local][:], rand.Uint64()|1) // zero is no id
		}
	}
	dir := e.plan.Traced.Journals
	if dir == "" {
		return
	}
	name := journalGroup(dir, run.attempt)
	for local := range run.journals {
		rank := e.plan.World.Rank(local)
		path, err := journal.Create(dir, journal.RankName(name, rank), journal.Header{
			RunID: e.plan.RunID, Attempt: run.attempt.Number, Rank: rank, Slots: e.plan.JournalSlots,
		})
		if err != nil {
			err = fmt.Errorf("what a rank has open when it dies will not be known: %w", err)
			if e.console.Dir.NodePath() == dir {
				e.console.Dir.Lost(err)
			} else {
				run.warnings = append(run.warnings, err.Error())
			}
			return // the next would fail for the same reason
		}
		run.journals[local] = path
	}
}

// journalGroup names an attempt's directory of journals as its other directory is named.
// What an earlier attempt of that name has left, as there may be with several nodes, is
// another's.
func journalGroup(dir string, a Attempt) string {
	name := rundir.Labelled(a.label())
	if _, err := os.Lstat(journal.Path(dir, name)); errors.Is(err, fs.ErrNotExist) {
		return name
	}
	return name + "." + strconv.Itoa(os.Getpid())
}

// enter adds to a worker's environment what telemetry has for it. A variable that the
// user set or took away stays so.
func (t *traced) enter(w Worker, p *Plan) {
	if t.spans != nil && p.Traceparent && !chosen(w, p, traceparent) {
		parent := p.Traced.Run
		// Sampled, or there would be no ids; other flags say nothing of our spans.
		w.Set[traceparent] = fmt.Sprintf("00-%s-%s-01", parent.TraceID(), t.spans[w.Local])
	}
	if path := t.journals[w.Local]; path != "" {
		w.Set[journal.Variable] = path
	}
}

// chosen reports whether the user decides a variable by flags.
func chosen(w Worker, p *Plan, key string) bool {
	if _, set := w.Set[key]; set {
		return true
	}
	for _, unset := range p.UnsetEnv {
		if unset == key {
			return true
		}
	}
	return false
}

// lookAtOpenWork reads what the ranks of an attempt had open, once nothing of it is left.
// Journals that hold nothing are removed; the others keep how their rank went until their
// spans have arrived.
func (e *effects) lookAtOpenWork(run *running) (open openWork) {
	over := time.Now()
	for local, path := range run.journals {
		end := run.ends[local]
		if path == "" || end.Pid == 0 && run.children[local] != nil {
			continue // it cannot be ended: it may still be writing
		}
		who := Worker{Local: local, Rank: e.plan.World.Rank(local)}
		w, err := openwork.Look(path, openwork.Witness{
			At: end.At, Pid: end.Pid, Over: over, Reason: end.obituary(), Slots: e.plan.JournalSlots,
			Carrier: e.plan.carrier(who, run.attempt),
		})
		switch {
		case err != nil:
		case len(w.Spans) == 0:
			err = openwork.Remove(path)
		default:
			err = journal.Bury(path, journal.Death{At: w.End, Reason: w.Reason})
			open.work = append(open.work, w)
		}
		if err != nil {
			open.problems = append(open.problems, err.Error())
		}
		if w.Torn > 0 || w.Skipped > 0 {
			open.problems = append(open.problems, fmt.Sprintf(
				"rank %d had more open than is known: %d spans found no room in its journal, %d are damaged", who.Rank, w.Skipped, w.Torn))
		}
	}
	return open
}

// openInTime is lookAtOpenWork, as far as the disk answers.
func (e *effects) openInTime(run *running) openWork {
	open, inTime := patiently(diskTime, func() openWork { return e.lookAtOpenWork(run) })
	if !inTime {
		open.problems = []string{"the disk that has the ranks' journals does not answer: " + e.plan.Traced.Journals}
	}
	return open
}

// obituary says how a rank went. Empty: it was not seen to end.
func (e WorkerEnded) obituary() string {
	if e.Pid == 0 {
		return ""
	}
	how := fmt.Sprintf("exited with code %d", e.Exit.Code)
	if e.Exit.Signal != 0 {
		how = "killed by " + proc.SignalName(e.Exit.Signal)
	}
	switch e.Reason {
	case ReasonOOM:
		how += " (out of memory)"
	case ReasonHang:
		how += " (hang: it showed no progress)"
	case ReasonStopped:
		how += " (stopped by the launcher)"
	}
	return fmt.Sprintf("rank %d %s", e.Rank, how)
}
