package rundir

import (
	"errors"
	"io"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// eventLog appends lines to events.jsonl. Nobody else does: we hold the lock.
type eventLog struct {
	dir  folder
	node int
	sys  system

	zero time.Time     // a moment of both clocks
	boot time.Duration // there

	mu     sync.Mutex
	file   *os.File // nil: it could not be opened yet
	size   int64    // up to the end of its last whole line
	torn   bool     // the file goes on after that: a line was cut off
	lost   int      // events since the last that was written
	closed bool
}

const eventsName = "events.jsonl"

func newEventLog(dir folder, node int, sys system) *eventLog {
	return &eventLog{dir: dir, node: node, sys: sys, zero: sys.now(), boot: sys.boot()}
}

// open continues the file. A last line without an end is what a crash left: it stays,
// and the next one begins below it.
func (l *eventLog) open() error {
	f, err := l.dir.openOrCreate(eventsName, unix.O_RDWR|unix.O_APPEND)
	if err != nil {
		return err
	}
	info, err := f.Stat()
	if err == nil && info.Size() > 0 {
		last := make([]byte, 1)
		_, err = f.ReadAt(last, info.Size()-1)
		l.torn = last[0] != '\n'
	}
	if err != nil {
		f.Close()
		return err
	}
	l.file, l.size = f, info.Size()
	return nil
}

// write appends an event by one write. If there is no room, the file is as before, the
// event is lost, and the next one that can be written says so.
func (l *eventLog) write(ev Event) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return os.ErrClosed
	}
	err := l.append(ev)
	if err != nil {
		l.lost++
		return err
	}
	l.lost = 0
	return nil
}

func (l *eventLog) append(ev Event) error {
	line, err := encodeLine(l.stamp(ev))
	if err != nil {
		return err
	}
	if l.file == nil {
		if err := l.open(); err != nil {
			return err
		}
	}
	var text []byte
	if l.torn {
		text = append(text, '\n')
	}
	if l.lost > 0 {
		note, err := encodeLine(l.stamp(Event{Kind: EventsLost, Count: l.lost}))
		if err != nil {
			return err
		}
		text = append(text, note...)
	}
	text = append(text, line...)
	n, err := l.sys.write(l.file, text)
	if err == nil && n < len(text) {
		err = io.ErrShortWrite
	}
	if err != nil {
		l.takeBack(n)
		return err
	}
	l.size, l.torn = l.size+int64(n), false
	return nil
}

// takeBack removes what was written of a line, or else remembers that it is there.
func (l *eventLog) takeBack(n int) {
	if n > 0 && l.file.Truncate(l.size) != nil {
		l.size += int64(n)
		l.torn = true
	}
}

// stamp says when and by whom.
func (l *eventLog) stamp(ev Event) Event {
	if ev.Time.IsZero() {
		ev.Time = l.sys.now()
	}
	ev.Mono = int64(l.boot + ev.Time.Sub(l.zero))
	ev.Time = ev.Time.UTC().Round(0)
	ev.Node = l.node
	return ev.clip()
}

// sync asks the disk to keep what was written so far.
func (l *eventLog) sync() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file == nil {
		return nil
	}
	err := l.file.Sync()
	if errors.Is(err, unix.EINVAL) {
		return nil // a file system that keeps it without being asked
	}
	return err
}

func (l *eventLog) close() error {
	err := l.sync()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	if l.file == nil {
		return err
	}
	return errors.Join(err, l.file.Close())
}
