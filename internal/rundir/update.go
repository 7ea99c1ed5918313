package rundir

import (
	"errors"
	"fmt"
	"os"
	"time"
)

// enter makes the record that of a new launcher; what is known of earlier attempts stays.
func (r *Run) enter(o Options, now time.Time) {
	for i := range r.Attempts {
		if r.Attempts[i].Ended.IsZero() && r.Attempts[i].Outcome == "" {
			r.Attempts[i].Outcome = OutcomeUnknown
		}
	}
	r.Invocation++
	if r.Started.IsZero() {
		r.Started = utc(now)
	}
	r.Ended, r.Outcome, r.ExitCode, r.Problem = time.Time{}, "", nil, ""
	r.RunID, r.JobUUID, r.Role, r.Launcher = o.Run.RunID, o.Run.JobUUID, o.Run.Role, o.Launcher
	r.Nodes, r.Node, r.WorldSize, r.Ranks = o.Nodes, o.Node, o.Run.WorldSize, o.Run.Ranks
	r.Why = clipLines(o.Run.Why, maxWhy)
	r.Command = Command{}
	if len(o.Run.Command) > 0 {
		r.Command = Command{Program: clip(o.Run.Command[0], maxLine), Arguments: len(o.Run.Command) - 1}
	}
}

// utc is a time as it is written: what is read back equals it.
func utc(t time.Time) time.Time {
	if t.IsZero() {
		return time.Time{}
	}
	return t.UTC().Round(0)
}

// Update changes the run and returns when run.json says so. The error is told to
// Options.Warn too; the change is kept, and written with the next one. change must not
// keep its argument, nor call a method of d.
func (d *Dir) Update(change func(*Run)) error {
	version, err := d.note(change, true)
	if err != nil {
		return err
	}
	return d.saver.wait(version)
}

// Note is Update without waiting: run.json says so within a tenth of a second, a disk
// willing.
func (d *Dir) Note(change func(*Run)) error {
	_, err := d.note(change, false)
	return err
}

func (d *Dir) note(change func(*Run), urgent bool) (uint64, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	change(&d.run)
	return d.saver.note(urgent)
}

// save writes run.json as it is now.
func (d *Dir) save() error {
	d.mu.Lock()
	d.run.trim()
	text, err := encodeRun(&d.run)
	d.mu.Unlock()
	if err == nil {
		err = d.home.replace(runName, text, d.sys)
	}
	if err != nil {
		d.failed(fmt.Errorf("cannot write %s: %w", d.home.path(runName), err))
	}
	return err
}

// Event appends to events.jsonl. Time may be zero: now. Mono and Node are filled in. The
// error is told to Options.Warn too; the next event that can be written says how many
// are missing.
func (d *Dir) Event(ev Event) error {
	err := d.events.write(ev)
	if err != nil && !errors.Is(err, os.ErrClosed) {
		d.failed(fmt.Errorf("cannot write %s: %w", d.home.path(eventsName), err))
	}
	return err
}

// syncEvents waits until the disk has all events so far.
func (d *Dir) syncEvents() {
	if err := d.events.sync(); err != nil {
		d.failed(fmt.Errorf("cannot write %s: %w", d.home.path(eventsName), err))
	}
}

// failed tells once: a disk that is full would otherwise be told at every line.
func (d *Dir) failed(err error) {
	d.warning.Do(func() {
		d.warn(fmt.Errorf("%w: what is kept of the run in %s has gaps from now on", err, d.home.Name()))
	})
}
