package rundir

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// Bounds of reading events, in bytes.
const (
	maxEvent  = 4 << 20 // of a line: longer ones are not ours
	readChunk = 64 << 10
)

// lineReader reads the events of one file, also of one that grows. It consumes whole
// lines only, so that a line that is being written, or was cut off by a crash, is never
// taken for an event.
type lineReader struct {
	part
	offset int64 // of the first line that was not consumed
	size   int   // of the next read: doubled while a line does not fit
	skip   bool  // the beginning of a line was dropped, for its length
}

// read returns the next events, and false when there is no whole line left for now. A
// file that is not there has none.
func (l *lineReader) read() (events []Event, more bool, err error) {
	f, err := os.OpenFile(l.path, os.O_RDONLY|unix.O_NONBLOCK, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = errors.New(l.path + " is no regular file")
	}
	if err != nil {
		return nil, false, err
	}
	l.size = max(l.size, readChunk)
	buf := make([]byte, l.size)
	n, err := f.ReadAt(buf, l.offset)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, false, err
	}
	events, more = l.take(buf[:n], n == len(buf))
	return events, more, nil
}

// take consumes the whole lines of a piece of the file; full says that there may be
// more behind it.
func (l *lineReader) take(text []byte, full bool) (events []Event, more bool) {
	end := bytes.LastIndexByte(text, '\n') + 1
	switch {
	case end > 0:
		l.size = readChunk
	case full && l.size < maxEvent:
		l.size *= 2
		return nil, true
	case full:
		l.offset += int64(len(text))
		l.skip = true
		return nil, true
	}
	for line := range bytes.Lines(text[:end]) {
		ev, ok := decodeEvent(line)
		if l.skip {
			l.skip, ok = false, false // it is the end of a line that was too long
		}
		if ok {
			events = append(events, l.place(ev))
		}
	}
	l.offset += int64(end)
	return events, end > 0 && full
}

// place says where an event comes from: the directory knows better than the line.
func (l *lineReader) place(ev Event) Event {
	if l.node >= 0 {
		ev.Node = l.node
	}
	return ev
}

// decodeEvent reads a line. Anything that is no event of ours is passed over: what a
// crash cut off, and what others wrote there.
func decodeEvent(line []byte) (ev Event, ok bool) {
	if json.Unmarshal(line, &ev) != nil || ev.Kind == "" || ev.Time.IsZero() || ev.Node < 0 {
		return Event{}, false
	}
	if ev.Attempt != "" && !IsAttempt(ev.Attempt) {
		return Event{}, false
	}
	for _, n := range []*int{ev.Rank, ev.Local} {
		if n != nil && *n < 0 {
			return Event{}, false
		}
	}
	return ev, ev.Pid >= 0 && ev.Count >= 0
}
