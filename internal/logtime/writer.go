package logtime

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"time"
)

// Writer writes the index of a log. It is not safe for concurrent use: a log has one
// writer.
type Writer struct {
	index io.WriteCloser // nil: given up
	now   func() time.Time

	last  Entry // the end of the log, and when it came there
	noted Entry // the latest entry of the index, as a Reader gives it back
	fresh bool  // the index holds nothing of this Writer's yet
	buf   []byte
}

// NewWriter continues an index, open for reading and appending, of a log that is size
// bytes long. Close closes it.
func NewWriter(index *os.File, size int64) (*Writer, error) {
	last, err := latest(index)
	if err != nil {
		return nil, fmt.Errorf("cannot continue the times of a log: %w", err)
	}
	// A log that was rotated is shorter than all that went through it.
	last.End = max(size, last.End)
	return newWriter(index, time.Now, last), nil
}

func newWriter(index io.WriteCloser, now func() time.Time, last Entry) *Writer {
	return &Writer{index: index, now: now, last: last, noted: last, fresh: true}
}

// latest is the last entry of an index, and the zero Entry of an empty one.
func latest(f *os.File) (Entry, error) {
	r := NewReader(f)
	for {
		if _, err := r.Next(); errors.Is(err, io.EOF) {
			return r.last, nil
		} else if err != nil {
			return Entry{}, err
		}
	}
}

// Note says that the log has just grown by so many bytes. Those that were written
// within a Step after an entry wait for the next one, with the time at which they came.
func (w *Writer) Note(n int) {
	if n <= 0 {
		return
	}
	at := w.now()
	if at.Before(w.last.At) {
		at = w.last.At // the clock was set back: order is worth more than the hour
	}
	if at.Sub(w.last.At) >= Step {
		w.flush()
	}
	w.last = Entry{At: at, End: w.last.End + int64(n)}
	if w.fresh || at.Sub(w.noted.At) >= Step {
		w.flush()
	}
}

// flush writes the entry for what is not in the index yet. Each entry is one write,
// so that an index ends with a whole one whatever happens to this process.
func (w *Writer) flush() {
	if w.index == nil || w.last.End == w.noted.End || w.last.At.IsZero() {
		return
	}
	w.buf = w.buf[:0]
	from := w.noted
	if w.fresh {
		// A mark, and then an entry that stands for itself: the index may be continued.
		w.buf, from = append(w.buf, mark), Entry{At: time.UnixMilli(0)}
	}
	// Readers take a step of no time for a mark.
	ms := max(w.last.At.UnixMilli()-from.At.UnixMilli(), 1)
	w.buf = binary.AppendUvarint(w.buf, uint64(ms))
	w.buf = binary.AppendUvarint(w.buf, uint64(w.last.End-from.End))
	if _, err := w.index.Write(w.buf); err != nil {
		w.giveUp()
		return
	}
	w.noted, w.fresh = Entry{At: from.At.Add(time.Duration(ms) * time.Millisecond), End: w.last.End}, false
}

// giveUp ends the index: a disk that is full has no room for aids.
func (w *Writer) giveUp() {
	w.index.Close()
	w.index = nil
}

// Close completes the index.
func (w *Writer) Close() error {
	w.flush()
	if w.index == nil {
		return nil
	}
	return w.index.Close()
}
