package openwork

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"go.opentelemetry.io/otel/attribute"

	"lenslaunch/journal"
	"lenslaunch/semconv"
)

// Work is what one process had open when it went, or had ended without exporting it.
type Work struct {
	Path      string // of its journal
	Group     string // "attempt-2", or journal.LauncherGroup
	Rank      int    // of a launcher: its node's
	Pid       int    // that wrote, as it saw itself; 0: nobody has
	Resource  []attribute.KeyValue
	SchemaURL string
	Spans     []journal.Span // parents first
	Skipped   uint64         // spans that the journal had no room for
	Torn      int            // spans that are not whole
	End       time.Time      // when the process went
	Reason    string         // how: "rank 3 killed by SIGKILL"
}

// Witness is what is known of the end of a process, besides its journal.
type Witness struct {
	At     time.Time // when the process Pid ended; zero: not known
	Pid    int       // of the process that was seen to end, 0: of whichever wrote
	Over   time.Time // when nothing was left that could write; zero: now
	Reason string    // empty: not known

	// Carrier is the resource that the process was started with, for want of its own.
	Carrier []attribute.KeyValue

	Slots int // the journal was made with; 0: not known
}

// Look reads the journal of a process that has gone.
func Look(path string, w Witness) (Work, error) {
	if w.Over.IsZero() {
		w.Over = time.Now()
	}
	j, err := journal.Read(path, journal.ReadOptions{Slots: w.Slots, Death: w.Over})
	if err != nil {
		return Work{}, err
	}
	work := Work{
		Path: path, Group: filepath.Base(filepath.Dir(path)), Rank: j.Rank, Pid: j.Claim.PID,
		Spans: j.Spans, Skipped: j.Skipped, Torn: j.Torn + j.Missing,
	}
	work.Resource, work.SchemaURL = j.Resource, j.SchemaURL
	if work.Resource == nil {
		work.Resource = w.Carrier
		if len(w.Carrier) == 0 {
			work.Resource = identity(work.Group, j.Header)
		}
	}
	// A resource that a program wrote in code may hold known integers as text.
	work.Resource, _ = semconv.Normalize(work.Resource)
	work.Reason = cmp.Or(w.Reason, j.Death.Reason)
	work.endAt(w.end(j), w.Over)
	return work, nil
}

// endAt sets when the process went, but not before the last thing that it did: else a span
// would begin after its parent's end. What it claims to have done after over does not count.
func (w *Work) endAt(at, over time.Time) {
	for _, s := range w.Spans {
		for _, did := range []time.Time{s.Start, s.End} {
			if did.After(at) && !did.After(over) {
				at = did
			}
		}
	}
	w.End = at
}

// end is when the writer went: as witnessed, as entered, or its last sign of life.
func (w Witness) end(j *journal.Journal) time.Time {
	switch {
	case !w.At.IsZero() && (w.Pid == 0 || w.Pid == j.Claim.PID):
		return w.At
	case !w.At.IsZero():
		return w.Over // another process than the one that was seen to end, a child of it
	case !j.Death.At.IsZero():
		return j.Death.At
	}
	return j.LastActivity
}

// identity is what a journal says of its process, where no resource is known.
func identity(group string, h journal.Header) []attribute.KeyValue {
	if group == journal.LauncherGroup { // it has no rank of its own
		return []attribute.KeyValue{
			attribute.String("service.name", "lenslaunch"), attribute.String(semconv.NVDLRole, "launcher"),
			attribute.String("service.instance.id", h.RunID+"-launcher"+strconv.Itoa(h.Rank)), attribute.String(semconv.NemoRunID, h.RunID),
		}
	}
	return []attribute.KeyValue{
		attribute.String(semconv.NemoRunID, h.RunID), attribute.Int(semconv.NVDLRank, h.Rank),
	}
}

// Open lists the spans that had not ended.
func (w Work) Open() []journal.Span {
	return slices.DeleteFunc(slices.Clone(w.Spans), func(s journal.Span) bool { return !s.Open() })
}

// Who names the process for people.
func (w Work) Who() string { return who(w.Group, w.Rank) }

func who(group string, rank int) string {
	if group == journal.LauncherGroup {
		return "the launcher"
	}
	return "rank " + strconv.Itoa(rank)
}

// Remove removes a journal, and the directory of its attempt with the last one.
func Remove(path string) error {
	if err := os.Remove(path); err != nil && !os.IsNotExist(err) {
		return fmt.Errorf("cannot remove the journal: %w", err)
	}
	// Another journal in it is no error, and a directory that stays is empty.
	_ = os.Remove(filepath.Dir(path))
	return nil
}
