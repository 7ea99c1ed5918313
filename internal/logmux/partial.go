package logmux

import (
	"time"

	"lenslaunch/internal/wording"
)

// quietAfter is how long a process must be silent until a terminal shows its unfinished
// line (the launch specification, "Output").
const quietAfter = 100 * time.Millisecond

// quiet is called when the process has been silent: a terminal shows its unfinished
// line, a bar its latest state. A \r that no line end followed in all that time is a
// bar's: many programs write it last and then work on.
func (l *lane) quiet(now time.Time) {
	if l.undecided() {
		l.endState()
	}
	if l.over {
		l.pendingBar(now)
		return
	}
	if end := l.presentable(); l.live && end > l.shown {
		l.begin()
		l.text = append(l.text, l.rest[l.shown:end]...)
		l.shown, l.open = end, true
	}
}

// end closes the last line, so that another process's line does not continue it.
func (l *lane) end() {
	if len(l.rest) > 0 || l.over {
		l.line([]byte{'\n'})
	}
}

// due is when quiet has something to do, zero: not before the process writes again.
func (l *lane) due() time.Time {
	if l.over {
		return l.barDue()
	}
	if l.undecided() || l.live && l.presentable() > l.shown {
		return l.since.Add(quietAfter)
	}
	return time.Time{}
}

// presentable is the length of rest without a last character or escape sequence that
// is not whole: another process's line may follow it.
func (l *lane) presentable() int {
	if len(l.rest) == 0 {
		return 0
	}
	return wholeEscapes(l.rest[:wording.Boundary(l.rest)])
}
