package runview

import (
	"bytes"
	"errors"
	"io"

	"lenslaunch/internal/wording"
)

// maxLine is the longest piece of a line, in bytes: as on the console.
const maxLine = 64 << 10

// piece is a line of output without its end, or a part of one that is too long.
type piece struct {
	text []byte // valid until the next call
	more bool   // it goes on with the line of the piece before
}

// liner takes a stream of bytes apart into lines. Of the states of a progress bar,
// which are divided by \r, only the last one of a line is kept, as on a screen.
type liner struct {
	r     io.Reader
	buf   []byte
	start int // where in buf the rest begins
	seen  int // so much of the rest has no line end
	midst bool
	read  int64 // bytes that were handed out, or skipped as old states
}

// next is the next line that is whole, or a piece of it. io.EOF: none yet.
func (l *liner) next() (piece, error) {
	for {
		rest := l.buf[l.start:]
		if i := bytes.IndexByte(rest[l.seen:], '\n'); i >= 0 && l.seen+i <= maxLine {
			return l.take(l.seen+i, l.seen+i+1, false), nil
		} else if i < 0 {
			l.seen = len(rest)
		}
		if len(rest) > maxLine {
			if i := bytes.LastIndexByte(rest[:maxLine], '\r'); i > 0 {
				l.skip(i) // states of a bar that nobody needs any more
				continue
			}
			cut := wording.Boundary(rest[:maxLine])
			return l.take(cut, cut, true), nil
		}
		if err := l.fill(); err != nil {
			return piece{}, err
		}
	}
}

// last is what stands behind the last line end, once nothing will follow.
func (l *liner) last() (piece, bool) {
	rest := l.buf[l.start:]
	if len(rest) == 0 {
		return piece{}, false
	}
	return l.take(len(rest), len(rest), false), true
}

// take hands out a line of so many bytes; with its end it has size bytes.
func (l *liner) take(length, size int, goesOn bool) piece {
	p := piece{text: shown(l.buf[l.start : l.start+length]), more: l.midst}
	l.skip(size)
	l.midst = goesOn
	return p
}

func (l *liner) skip(n int) {
	l.start += n
	l.seen = max(l.seen-n, 0)
	l.read += int64(n)
}

// fill reads once.
func (l *liner) fill() error {
	if l.start > 0 {
		l.buf = append(l.buf[:0], l.buf[l.start:]...)
		l.start = 0
	}
	if free := cap(l.buf) - len(l.buf); free == 0 {
		// Most streams say little; a thousand of them must not take 64 MiB.
		bigger := make([]byte, len(l.buf), min(max(2*cap(l.buf), 4<<10), 2*maxLine))
		copy(bigger, l.buf)
		l.buf = bigger
	}
	n, err := l.r.Read(l.buf[len(l.buf):cap(l.buf)])
	l.buf = l.buf[:len(l.buf)+n]
	if n > 0 {
		return nil
	}
	if err == nil {
		err = errors.New("a read without bytes")
	}
	return err
}

// bar is the present state of a progress bar in an unfinished line.
func (l *liner) bar() (text []byte, ok bool) {
	rest := l.buf[l.start:]
	i := bytes.LastIndexByte(rest, '\r')
	if i < 0 {
		return nil, false
	}
	// What stands behind the last \r may be half a state.
	text = shown(rest[:i])
	return text, len(text) > 0
}

// shown is what a screen shows of a line with \r in it: its last state.
func shown(text []byte) []byte {
	text = bytes.TrimRight(text, "\r")
	if i := bytes.LastIndexByte(text, '\r'); i >= 0 {
		text = text[i+1:]
	}
	return text
}
