package logmux

import (
	"slices"
	"time"
)

const (
	// drawEvery is how often a bar is drawn: more only flickers.
	drawEvery = 100 * time.Millisecond
	// turnEvery is how long a rank's bar is there until another's takes the line.
	turnEvery = 2 * time.Second
	// eraseLine wipes the line that the cursor is in.
	eraseLine = "\r\x1b[K"
	// columnsUnknown is for a terminal that does not tell its width.
	columnsUnknown = 80
)

// screen is what stands on a terminal's last line. It is pure; its owner passes on
// the bytes that it returns and tells it the time.
//
//	clean --unfinished line--> open --its rest--> clean
//	clean, open --bar--> bar --any text--> clean, then the bar again
//
// One line belongs to bars. Of several the one that was drawn longest ago gets it in
// turn.
type screen struct {
	open  any    // whose unfinished line the cursor is in, nil: it is at a line's start
	bars  []*bar // of those who have one
	drawn *bar   // the one on the screen, nil: none
	turn  *bar   // the one whose turn it is
	since time.Time
	last  time.Time // when a bar was drawn
	ended bool      // the bar on the screen has ended
	width func() int
}

// bar is the latest state of somebody's progress bar.
type bar struct {
	who    any
	prefix string
	text   []byte
	fresh  bool      // not drawn since it changed
	at     time.Time // when it was drawn
}

// foreign is who writes without being a lane.
type foreign struct{}

// add appends what makes a batch appear.
func (s *screen) add(dst []byte, now time.Time, who any, prefix, more string, b *batch) []byte {
	if b.barred {
		s.set(who, prefix, b.bar)
	}
	if len(b.text) > 0 {
		dst = s.wipe(dst)
		switch {
		case s.open == nil:
			dst = appendIf(dst, b.joined, more)
		case s.open == who && b.joined:
		case s.open == who && b.replace:
			dst = append(dst, eraseLine...)
		default:
			dst = append(dst, '\n')
			dst = appendIf(dst, b.joined, more)
		}
		dst = append(dst, b.text...)
		if s.open = nil; b.open {
			s.open = who
		}
		// Somebody may be asked for an answer: bars come again when one moves.
		if !b.open && len(s.bars) > 0 {
			return s.draw(dst, now)
		}
		return dst
	}
	if b.replace && s.open == who {
		dst, s.open = append(dst, eraseLine...), nil
	}
	return s.tick(dst, now)
}

func appendIf(dst []byte, yes bool, text string) []byte {
	if yes {
		return append(dst, text...)
	}
	return dst
}

// set changes who's bar; empty text ends it.
func (s *screen) set(who any, prefix string, text []byte) {
	i := slices.IndexFunc(s.bars, func(b *bar) bool { return b.who == who })
	switch {
	case len(text) == 0 && i >= 0:
		if s.turn == s.bars[i] {
			s.turn = nil
		}
		s.ended = s.ended || s.drawn == s.bars[i]
		s.bars = slices.Delete(s.bars, i, i+1)
	case len(text) == 0:
		return
	case i < 0:
		s.bars = append(s.bars, &bar{who: who, prefix: prefix, text: slices.Clone(text), fresh: true})
	default:
		b := s.bars[i]
		b.text, b.prefix, b.fresh = append(b.text[:0], text...), prefix, true
	}
}

// wipe takes the bar off the screen.
func (s *screen) wipe(dst []byte) []byte {
	if s.drawn != nil {
		dst, s.drawn = append(dst, eraseLine...), nil
	}
	return dst
}

// tick draws the bar if one has changed and it is time.
func (s *screen) tick(dst []byte, now time.Time) []byte {
	if due := s.due(); due.IsZero() || now.Before(due) {
		return dst
	}
	return s.draw(dst, now)
}

// due is when tick has something to do, zero: not before something changes.
func (s *screen) due() time.Time {
	soon, waits := s.last.Add(drawEvery), false
	if s.ended {
		return soon
	}
	for _, b := range s.bars {
		if b.fresh && (s.turn == nil || s.turn == b) {
			return soon
		}
		waits = waits || b.fresh
	}
	if !waits {
		return time.Time{}
	}
	if turn := s.since.Add(turnEvery); turn.After(soon) {
		return turn
	}
	return soon
}

// draw puts the bar whose turn it is on the screen.
func (s *screen) draw(dst []byte, now time.Time) []byte {
	dst = s.wipe(dst)
	b := s.next(now)
	s.ended = false
	if b == nil {
		return dst
	}
	if s.open != nil {
		dst, s.open = append(dst, '\n'), nil
	}
	columns := s.width()
	if columns <= 0 {
		columns = columnsUnknown
	}
	// Painted and then cut: colours take no room. The last column stays free, because
	// some terminals wrap as soon as it is written.
	dst = fit(dst, append([]byte(b.prefix), b.text...), columns-1)
	dst = append(dst, "\x1b[0m"...)
	s.drawn, s.last, b.at, b.fresh = b, now, now, false
	return dst
}

// next chooses the bar for the line.
func (s *screen) next(now time.Time) *bar {
	if s.turn != nil && now.Sub(s.since) < turnEvery {
		return s.turn
	}
	var choice *bar
	for _, b := range s.bars {
		if b.fresh && b != s.turn && (choice == nil || b.at.Before(choice.at)) {
			choice = b
		}
	}
	if choice == nil {
		if choice = s.turn; choice == nil && len(s.bars) > 0 {
			choice = s.bars[0]
		}
	}
	if choice != s.turn {
		s.turn, s.since = choice, now
	}
	return choice
}
