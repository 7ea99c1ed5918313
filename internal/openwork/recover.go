package openwork

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"time"

	"lenslaunch/journal"
)

// Recovery is what became of journals that had been left.
type Recovery struct {
	Processes, Spans int      // exported
	InUse            []string // journals that a process writes still: left alone
	Unreadable       []error  // journals that are none, or damaged: left alone
}

// Options of Recover.
type Options struct {
	At     time.Time // when the processes went; zero: as far as their journals know
	Export Export
	Note   func(Work) // is told of what was open, before its journal is removed; may be nil
}

// Attended reports whether a launcher lives that has these journals in its care.
func Attended(entries []Entry) bool {
	return slices.ContainsFunc(entries, func(e Entry) bool { return e.Group == journal.LauncherGroup && InUse(e.Path) })
}

// Recover exports what the processes of these journals had open and removes them. Whoever
// calls holds the directory's lock. With an error the journals that it is about stay, and
// those behind them; what had been exported before is counted.
func Recover(ctx context.Context, entries []Entry, o Options) (Recovery, error) {
	var r Recovery
	var failed error
	var batch []Work
	spans := 0
	for _, e := range entries {
		if InUse(e.Path) {
			r.InUse = append(r.InUse, e.Path)
			continue
		}
		w, err := Look(e.Path, Witness{})
		if errors.Is(err, fs.ErrNotExist) {
			continue // another process was here before the lock was ours
		}
		if err != nil {
			r.Unreadable = append(r.Unreadable, err)
			continue
		}
		o.complete(&w)
		if failed != nil {
			continue // it was only to be told when its process went
		}
		batch = append(batch, w)
		if spans += len(w.Spans); spans < batchSpans {
			continue
		}
		failed = r.export(ctx, batch, o)
		batch, spans = nil, 0
	}
	if failed == nil {
		failed = r.export(ctx, batch, o)
	}
	return r, failed
}

// complete says what is known of the end of a process that nobody saw go, and enters it in
// the journal: should the export fail, whoever comes next knows no more than is there.
func (o Options) complete(w *Work) {
	if w.Reason != "" || len(w.Spans) == 0 {
		return // its launcher has entered when and how
	}
	w.Reason = w.Who() + " ended with its launcher"
	if w.Group == journal.LauncherGroup {
		w.Reason = "the launcher was killed"
	}
	if o.At.IsZero() {
		w.Reason += "; when is not known, this is its last sign of life"
		return
	}
	w.endAt(o.At, time.Now())
	_ = journal.Bury(w.Path, journal.Death{At: w.End, Reason: w.Reason}) // the export goes on without
}

// export exports a batch and removes its journals. Those that hold nothing are removed
// without a word.
func (r *Recovery) export(ctx context.Context, batch []Work, o Options) error {
	if full := withSpans(batch); len(full) > 0 {
		if err := o.Export(ctx, full); err != nil {
			return fmt.Errorf("cannot export what was open: %w", cmp.Or(context.Cause(ctx), err))
		}
	}
	var problems error
	for _, w := range batch {
		if len(w.Spans) > 0 {
			r.Processes++
			r.Spans += len(w.Spans)
			if o.Note != nil {
				o.Note(w)
			}
		}
		problems = errors.Join(problems, Remove(w.Path))
	}
	return problems
}

// withSpans leaves out work that is none.
func withSpans(batch []Work) []Work {
	var full []Work
	for _, w := range batch {
		if len(w.Spans) > 0 {
			full = append(full, w)
		}
	}
	return full
}
