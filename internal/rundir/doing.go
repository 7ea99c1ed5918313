package rundir

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

// DoingRecord is what a rank had open when it went, from the journal of its spans.
type DoingRecord struct {
	At     time.Time    `json:"at"`               // when it went
	Reason string       `json:"reason,omitempty"` // how: "rank 3 killed by SIGKILL"
	Trace  string       `json:"trace_id,omitempty"`
	Open   int          `json:"open"`  // spans that were open, in all
	Spans  []SpanRecord `json:"spans"` // what it was at: the innermost last, each part of the one before
}

// SpanRecord is a span that was open.
type SpanRecord struct {
	Name    string    `json:"name"`
	ID      string    `json:"span_id,omitempty"`
	Started time.Time `json:"started"`
}

// keepSpans bounds what is kept of nested spans: the innermost say most.
const keepSpans = 16

func (d DoingRecord) clip() *DoingRecord {
	d.At, d.Reason = utc(d.At), clip(d.Reason, maxLine)
	spans := d.Spans[max(0, len(d.Spans)-keepSpans):]
	d.Spans = nil
	for _, s := range spans {
		s.Name, s.Started = clip(s.Name, maxLine), utc(s.Started)
		d.Spans = append(d.Spans, s)
	}
	return &d
}

// RankDoing says what a rank of the current attempt had open when it went.
func (r *Recorder) RankDoing(rank int, doing DoingRecord) {
	r.queue.add(func() {
		d := doing.clip()
		r.event(Event{Time: d.At, Kind: RankDoing, Rank: &rank, Doing: d})
		attempt := r.attempt
		_ = r.dir.Note(func(run *Run) { run.found(attempt, rank, d) })
	})
}

// Found is what was found out later of a rank of an earlier attempt.
type Found struct {
	Attempt string
	Rank    int
	Doing   DoingRecord
}

// Found enters what was found out of earlier attempts. What the record does not know any
// more is in the events alone.
func (d *Dir) Found(list ...Found) {
	for _, f := range list {
		doing := f.Doing.clip()
		_ = d.Event(Event{Time: d.sys.now(), Kind: RankDoing, Attempt: f.Attempt, Rank: &f.Rank, Doing: doing})
		_ = d.Note(func(r *Run) { r.found(f.Attempt, f.Rank, doing) })
	}
}

func (r *Run) found(attempt string, rank int, doing *DoingRecord) {
	for i := range r.Attempts {
		if r.Attempts[i].Name != attempt {
			continue
		}
		for j := range r.Attempts[i].Ranks {
			if rec := &r.Attempts[i].Ranks[j]; rec.Rank == rank {
				rec.Doing = doing
			}
		}
	}
}

// EnterFound is Found for the record in a directory, that of a run or of one of its nodes,
// whose launcher has gone. It holds the lock for as long as it writes; the error is a
// [*HeldError] if a launcher works there. A directory without a record keeps none.
func EnterFound(dir string, list []Found) error {
	d := &Dir{sys: realSystem(), nodes: 1, warn: func(error) {}}
	seen, err := d.revisit(dir)
	switch {
	case errors.Is(err, unix.ENOENT):
		d.leave()
		return nil
	case err != nil:
		d.leave()
		var held *HeldError
		var broken *FileError
		if errors.As(err, &held) || errors.As(err, &broken) {
			return err // it names the directory
		}
		return fmt.Errorf("cannot enter what was found in %s: %w", dir, err)
	}
	d.Found(list...)
	// The lock's time says when the launcher last showed life, which we are not.
	defer func() { _ = os.Chtimes(filepath.Join(dir, lockName), seen, seen) }()
	return d.Close()
}

// revisit opens a record that exists without entering a launcher. seen is when the last
// one showed life.
func (d *Dir) revisit(dir string) (seen time.Time, err error) {
	fd, err := openFolder(unix.AT_FDCWD, dir)
	if err != nil {
		return seen, explain(dir, err)
	}
	d.root = folder{File: os.NewFile(uintptr(fd), dir)}
	d.home = d.root
	if d.home.owner, err = ownerOf(d.home); err != nil {
		return seen, err
	}
	if !d.home.exists(runName) {
		return seen, unix.ENOENT
	}
	if info, err := os.Lstat(d.home.path(lockName)); err == nil {
		seen = info.ModTime()
	}
	me := holder{Launcher: Launcher{Pid: os.Getpid()}.complete(), Since: d.sys.now().UTC().Round(0)}
	if d.lock, err = acquire(d.home, me, d.sys); err != nil {
		return seen, err
	}
	if err = d.load(); err != nil {
		return seen, err
	}
	d.saver = newSaver(d.save)
	d.events = newEventLog(d.home, d.run.Node, d.sys)
	return seen, nil
}
