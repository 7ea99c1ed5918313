package logmux

import (
	"bytes"
	"time"

	"lenslaunch/internal/wording"
)

// MaxLine is the longest piece of a line that is written at once, in bytes.
const MaxLine = 64 << 10

const (
	// fullBatch ends a batch: prefixes can make the text of a read many times as
	// long, and memory stays bounded.
	fullBatch = 192 << 10
	// keptRest is how much room for an unfinished line a stream keeps.
	keptRest = 4 << 10
)

// lane turns what a process writes into text for a console. It is pure: no clock, no
// write. take, quiet and end put a batch together, which the owner delivers and clears.
//
// A line is in one of these states:
//
//	empty --bytes--> rest --64 KiB--> midst (its pieces so far are passed on)
//	rest --silence, terminal--> shown (a part of rest is on the terminal)
//	rest --lone \r--> over (a progress bar: only its latest state counts)
//	any --\n--> empty
//	midst --its batch was skipped--> drop (the rest of it is skipped, too)
type lane struct {
	policy
	prefix, more string // at the start of a line, of a further piece of it

	rest   []byte    // text of the line that is not passed on
	midst  bool      // pieces of the line are passed on
	shown  int       // bytes of rest that the terminal shows already
	drop   bool      // the beginning of the line was skipped
	over   bool      // the line is a progress bar
	state  []byte    // its latest finished state that says something
	told   []byte    // its state that was shown last
	toldAt time.Time // and when, also of an earlier line
	since  time.Time // since when the process could have written and has not
	torn   bool      // the last raw read ended in the middle of a line

	batch
}

// take adds what the process wrote, as much as a batch holds, and returns what is
// left for the next batch.
func (l *lane) take(now time.Time, chunk []byte) []byte {
	if l.drop {
		chunk = l.dropped(chunk)
	}
	// Most output has no \r: it is looked for once for all lines of the chunk.
	cr := l.over || l.undecided() || bytes.IndexByte(chunk, '\r') >= 0
	for len(chunk) > 0 && len(l.text) < fullBatch {
		if !cr && len(l.rest) == 0 && !l.midst {
			if chunk = chunk[l.whole(chunk):]; len(chunk) == 0 {
				break
			}
		}
		if cr && l.undecided() && chunk[0] != '\n' {
			l.endState()
		}
		window := chunk[:min(len(chunk), MaxLine-len(l.rest))]
		end := bytes.IndexByte(window, '\n')
		if cr {
			if n := loneCR(window, end); n > 0 {
				l.rest = append(l.rest, window[:n]...)
				chunk = chunk[n:]
				l.endState()
				continue
			}
		}
		switch {
		case end >= 0:
			l.line(window[:end+1])
			chunk = chunk[end+1:]
		case len(l.rest)+len(window) == MaxLine:
			chunk = chunk[l.piece(window):]
		default:
			l.rest = append(l.rest, window...)
			chunk = nil
		}
	}
	if len(chunk) == 0 {
		l.progress(now)
	}
	return chunk
}

// whole adds the lines that are all in chunk, which has no \r, and returns how long they
// are. It is line for the many: most output is nothing else.
func (l *lane) whole(chunk []byte) int {
	text, done := l.text, 0
	for len(text) < fullBatch {
		end := bytes.IndexByte(chunk[done:], '\n') + 1
		if end == 0 || end > MaxLine {
			break
		}
		text = append(append(text, l.prefix...), chunk[done:done+end]...)
		l.lines++
		done += end
	}
	l.text = text
	return done
}

// dropped leaves out the rest of a line whose beginning was skipped.
func (l *lane) dropped(chunk []byte) []byte {
	end := bytes.IndexByte(chunk, '\n')
	if end < 0 {
		return nil
	}
	l.drop = false
	return chunk[end+1:]
}

// undecided reports whether the line ends with a \r of which only the next byte tells
// whether it belongs to a line end.
func (l *lane) undecided() bool { return len(l.rest) > 0 && l.rest[len(l.rest)-1] == '\r' }

// loneCR is the length of the text up to and with the first \r that is no part of a
// line end; 0 if there is none before the line's end, which is -1 if it is not known.
func loneCR(text []byte, end int) int {
	if end >= 0 {
		text = text[:end+1]
	}
	n := bytes.IndexByte(text, '\r') + 1
	if n == 0 || n == len(text) || text[n] == '\n' {
		return 0
	}
	return n
}

// line adds a whole line, or the end of one.
func (l *lane) line(tail []byte) {
	if l.over {
		l.endBar(tail)
		return
	}
	l.begin()
	l.text = append(l.text, l.rest[l.shown:]...)
	l.text = append(l.text, tail...)
	l.ended()
}

// ended forgets the line.
func (l *lane) ended() {
	l.lines++
	l.midst, l.shown, l.over = false, 0, false
	if cap(l.rest) > keptRest {
		l.rest = nil
	}
	l.rest = l.rest[:0]
}

// piece adds MaxLine bytes of a line that is too long, or up to three fewer, so that
// no character is cut. It returns how much of window it has used.
func (l *lane) piece(window []byte) int {
	text, used := window, 0
	if len(l.rest) > 0 {
		l.rest = append(l.rest, window...)
		text, used = l.rest, len(window)
	}
	n := wording.Boundary(text)
	l.part(text[l.shown:n])
	if used > 0 {
		l.rest = l.rest[:copy(l.rest, l.rest[n:])]
		return used
	}
	return n
}

// part adds a piece of the line. Without a prefix pieces are the line as it was.
func (l *lane) part(text []byte) {
	l.begin()
	l.text = append(l.text, text...)
	if l.prefix != "" {
		l.text = append(l.text, '\n')
	}
	l.midst, l.shown = true, 0
}

// begin writes the prefix that the place needs.
func (l *lane) begin() {
	switch {
	case l.shown > 0:
		// It is the first of its batch: what is shown is never longer than rest.
		l.joined = true
	case l.midst:
		if l.prefix != "" {
			l.text = append(l.text, l.more...)
		}
	default:
		l.text = append(l.text, l.prefix...)
	}
}

// skipped is called instead of a delivery: the batch is not shown. The rest of a line
// that it began is not shown either. It returns how many lines that makes.
func (l *lane) skipped() int {
	n := l.lines
	if l.midst {
		// Counted now; its end is dropped uncounted.
		l.drop, l.midst = true, false
		l.rest = l.rest[:0]
		n++
	}
	l.shown, l.told = 0, l.told[:0]
	return n
}

// raw passes a read on as it is. It keeps nothing; skipped counts its line ends.
func (l *lane) raw(chunk []byte) []byte {
	l.text = append(l.text, chunk...)
	l.joined, l.open = l.torn, chunk[len(chunk)-1] != '\n'
	l.torn = l.open
	l.lines = bytes.Count(chunk, []byte{'\n'})
	return nil
}
