package runview

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"time"

	"lenslaunch/internal/logtime"
)

// timed is one source whose lines have times.
type timed struct {
	source
	files chain
	lines liner

	index *os.File // when what was written, nil: nobody noted it
	times *logtime.Reader
	entry logtime.Entry // covers what was read, as far as there is one
	base  int64         // where the first file begins, on the index's count

	head    piece     // the next line
	at      time.Time // when it was whole
	barAt   time.Time // when a progress bar was last shown
	barText string    // and its state then
}

func newTimed(dir string, s source, paths []string) *timed {
	t := &timed{source: s, files: chain{dir: dir, from: s}}
	t.lines.r = &t.files
	f, err := os.Open(filepath.Join(dir, s.file()+logtime.Suffix))
	if err != nil {
		return t // the worker wrote to its files itself, or the index is lost: never mind
	}
	t.index, t.times = f, logtime.NewReader(f)
	if len(paths) > 1 {
		t.base = t.dropped(paths)
	}
	return t
}

// dropped is how much of a rotated stream is gone: what went through it, less what is
// left.
func (t *timed) dropped(paths []string) int64 {
	var end int64
	for e, err := t.times.Next(); err == nil; e, err = t.times.Next() {
		end = e.End
	}
	for _, path := range paths {
		if info, err := os.Stat(path); err == nil {
			end -= info.Size()
		}
	}
	if _, err := t.index.Seek(0, io.SeekStart); err == nil {
		t.times = logtime.NewReader(t.index)
	}
	return max(end, 0)
}

// advance gets the next line. With final nothing will follow, so that what stands
// behind the last line end is one too. now is the time of lines of which none is noted.
func (t *timed) advance(final bool, now time.Time) (ok bool, err error) {
	p, err := t.lines.next()
	switch {
	case errors.Is(err, io.EOF) && !final:
		return false, nil
	case errors.Is(err, io.EOF):
		if p, ok = t.lines.last(); !ok {
			return false, nil
		}
	case err != nil:
		return false, err
	}
	t.head, t.at = p, t.when(t.base+t.lines.read, final, now)
	return true, nil
}

// when says at which time the stream was so long.
func (t *timed) when(end int64, final bool, now time.Time) time.Time {
	for t.times != nil && t.entry.End < end {
		e, err := t.times.Next()
		if err != nil {
			break
		}
		t.entry = e
	}
	switch {
	case t.entry.End >= end, final && !t.entry.At.IsZero():
		return t.entry.At
	case !final:
		return now
	case t.files.info != nil:
		// All that is known is that it was written by then.
		return t.files.info.ModTime()
	}
	return now
}

func (t *timed) close() {
	t.files.close()
	if t.index != nil {
		t.index.Close()
	}
}
