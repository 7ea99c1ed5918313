package logmux

import (
	"bytes"
	"time"

	"lenslaunch/internal/wording"
)

// A progress bar is a line with a lone \r in it: what follows takes the place of what
// was before. Where all states are kept each is a piece of the line, as of one that is
// too long, so joined they are the line.

// barEvery is how often a progress bar comes as a line, where none can be refreshed in
// place.
const barEvery = time.Second

// endState handles rest, which ends with a lone \r.
func (l *lane) endState() {
	if l.keepCR {
		l.part(l.rest[l.shown:])
		l.rest = l.rest[:0]
		return
	}
	if l.shown > 0 {
		// The terminal shows it as an unfinished line, which the bar replaces.
		l.replace, l.shown = l.inPlace, 0
	}
	l.over = true
	if state := trimCR(l.rest); !blank(state) || l.inPlace {
		l.state = append(l.state[:0], state...)
	}
	l.rest = l.rest[:0]
}

// progress shows the latest finished state, as often as the console bears it. The
// terminal's own limit is the screen's.
func (l *lane) progress(now time.Time) {
	switch {
	case !l.over || len(l.state) == 0 && len(l.told) == 0:
	case l.inPlace:
		l.show(l.state)
	case now.Sub(l.toldAt) >= barEvery:
		l.tell(now, l.state)
	}
}

// pendingBar shows the state that has no end yet: most programs write the \r first.
func (l *lane) pendingBar(now time.Time) {
	state := l.latest()
	switch {
	case l.inPlace:
		l.show(state)
	case now.Sub(l.toldAt) >= barEvery:
		l.tell(now, state)
	}
}

// latest is the state that a terminal would show.
func (l *lane) latest() []byte {
	if state := trimCR(l.rest[:wording.Boundary(l.rest)]); len(state) > 0 {
		return state
	}
	return l.state
}

// barDue is when pendingBar has something to do.
func (l *lane) barDue() time.Time {
	state := l.latest()
	if bytes.Equal(state, l.told) || !l.inPlace && blank(state) {
		return time.Time{}
	}
	due := l.since.Add(quietAfter)
	if next := l.toldAt.Add(barEvery); !l.inPlace && next.After(due) {
		due = next
	}
	return due
}

// show refreshes the bar in place.
func (l *lane) show(state []byte) {
	if bytes.Equal(state, l.told) {
		return
	}
	l.told = append(l.told[:0], state...)
	l.bar, l.barred = append(l.bar[:0], state...), true
}

// tell writes the state as a line.
func (l *lane) tell(now time.Time, state []byte) {
	if bytes.Equal(state, l.told) || blank(state) {
		return
	}
	l.told = append(l.told[:0], state...)
	l.toldAt = now
	l.begin()
	l.text = append(append(l.text, state...), '\n')
	l.midst = false
}

// endBar makes a line of what a terminal would show at the bar's end: the last state
// if nothing follows it. What is there already does not come twice.
func (l *lane) endBar(tail []byte) {
	l.rest = append(l.rest, tail...)
	final := trimCR(bytes.TrimSuffix(l.rest, []byte{'\n'}))
	if len(final) == 0 || !l.inPlace && blank(final) {
		final = l.state
	}
	if l.inPlace {
		l.bar, l.barred = l.bar[:0], true
	}
	if l.inPlace || len(l.told) == 0 || !bytes.Equal(final, l.told) {
		l.begin()
		l.text = append(append(l.text, final...), '\n')
	}
	l.state, l.told = nil, nil
	l.ended()
}

func trimCR(text []byte) []byte { return bytes.TrimRight(text, "\r") }

// blank reports whether text leaves nothing to read: bars are wiped with spaces.
func blank(text []byte) bool {
	for len(text) > 0 {
		if n, _ := escape(text); n > 0 {
			text = text[n:]
			continue
		}
		if text[0] != ' ' {
			return false
		}
		text = text[1:]
	}
	return true
}
