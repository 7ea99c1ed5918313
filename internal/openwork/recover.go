package openwork

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"
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

// Recover exports what the processes of these journals had open and removes them. Whoever
// calls holds the directory's lock. With an error the journals that it is about stay; what
// had been exported before is counted.
func Recover(ctx context.Context, entries []Entry, o Options) (Recovery, error) {
	var r Recovery
	var batch []Work
	spans := 0
	for _, e := range entries {
		if InUse(e.Path) {
			r.InUse = append(r.InUse, e.Path)
			continue
		}
		w, err := Look(e.Path, Witness{})
		if err != nil {
			r.Unreadable = append(r.Unreadable, err)
			continue
		}
		o.complete(&w)
		batch = append(batch, w)
		if spans += len(w.Spans); spans < batchSpans {
			continue
		}
		if err := r.export(ctx, batch, o); err != nil {
			return r, err
		}
		batch, spans = nil, 0
	}
	return r, r.export(ctx, batch, o)
}

// complete says what is known of the end of a process that nobody saw go.
func (o Options) complete(w *Work) {
	if w.Reason == "" { // else its launcher has entered when and how
		w.Reason = w.Who() + " ended with its launcher"
		if o.At.IsZero() {
			w.Reason += "; when is not known, this is its last sign of life"
		} else {
			w.End = o.At
		}
	}
}

// export exports a batch and removes its journals. Those that hold nothing are removed
// without a word.
func (r *Recovery) export(ctx context.Context, batch []Work, o Options) error {
	var full []Work
	for _, w := range batch {
		if len(w.Spans) > 0 {
			full = append(full, w)
		}
	}
	if len(full) > 0 {
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
