package logtime

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// Writer passes bytes on to a log and notes in its index when. It is not safe for
// concurrent use: a log has one writer.
type Writer struct {
	log   io.Writer
	index io.WriteCloser // nil: given up
	now   func() time.Time

	last  Entry // the end of the log, and when it came there
	noted Entry // the latest entry of the index
	fresh bool  // the index holds nothing of this Writer's yet
	buf   []byte
}

// Open begins or continues the index of a log that is size bytes long. path is the
// log's; the index lies beside it with mode 0600 and is never followed through a
// symbolic link.
func Open(log io.Writer, path string, size int64) (*Writer, error) {
	const flags = os.O_RDWR | os.O_CREATE | os.O_APPEND | unix.O_NOFOLLOW | unix.O_CLOEXEC
	f, err := os.OpenFile(path+Suffix, flags, 0o600)
	if err != nil {
		return nil, fmt.Errorf("cannot keep the times of a log: %w", err)
	}
	last, err := latest(f)
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("cannot continue the times of a log: %w", err)
	}
	// A log that was rotated is shorter than all that went through it.
	return newWriter(log, f, time.Now, max(size, last.End)), nil
}

func newWriter(log io.Writer, index io.WriteCloser, now func() time.Time, size int64) *Writer {
	return &Writer{log: log, index: index, now: now, last: Entry{End: size}, fresh: true}
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

// Write writes p to the log. The error is the log's alone.
func (w *Writer) Write(p []byte) (int, error) {
	n, err := w.log.Write(p)
	if n > 0 {
		w.note(int64(n))
	}
	return n, err
}

// note enters n more bytes. Those that were written within a Step after an entry wait
// for the next one, with the time at which they came.
func (w *Writer) note(n int64) {
	at := w.now()
	if at.Before(w.last.At) {
		at = w.last.At // the clock was set back: order is worth more than the hour
	}
	if at.Sub(w.last.At) >= Step {
		w.flush()
	}
	w.last = Entry{At: at, End: w.last.End + n}
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
	w.buf = binary.AppendUvarint(w.buf, uint64(max(w.last.At.UnixMilli()-from.At.UnixMilli(), 1)))
	w.buf = binary.AppendUvarint(w.buf, uint64(w.last.End-from.End))
	if _, err := w.index.Write(w.buf); err != nil {
		w.giveUp()
		return
	}
	w.noted, w.fresh = w.last, false
}

// giveUp ends the index: a disk that is full has no room for aids.
func (w *Writer) giveUp() {
	w.index.Close()
	w.index = nil
}

// Close completes the index. The log stays open.
func (w *Writer) Close() error {
	w.flush()
	if w.index == nil {
		return nil
	}
	return w.index.Close()
}
