package logmux

import (
	"bytes"
	"io"
	"unicode/utf8"
)

// MaxLine is the longest piece of a line that is written at once, in bytes.
const MaxLine = 64 << 10

// firstBuffer is small, because most streams of a large job say little: 512 ranks
// have 1,024 streams.
const firstBuffer = 4 << 10

// Stream says what becomes of the bytes of one pipe.
type Stream struct {
	To           *Sink  // nil: not shown
	Prefix       string // at the start of every line; empty: none
	Continuation string // at the start of the further pieces of a long line
	Tail         *Tail  // keeps the last lines; nil: not kept
	Raw          bool   // no line discipline: the only writer of its console
	Pulse        *Pulse // told of progress; nil: nobody asks
}

// copier is the state of one stream: what is read but not yet written.
type copier struct {
	Stream
	buf   []byte // unwritten bytes: an unfinished line
	out   []byte // the write being put together
	midst bool   // the console holds the beginning of the current line
}

// Copy moves all bytes of r to the stream's sink until its end. The error is the
// reader's, never the console's; io.EOF is nil.
func (s Stream) Copy(r io.Reader) error {
	c := &copier{Stream: s, buf: make([]byte, 0, firstBuffer)}
	for {
		c.grow()
		n, err := r.Read(c.buf[len(c.buf):cap(c.buf)])
		if n > 0 {
			c.Pulse.beat()
			c.take(n)
		}
		if err != nil {
			c.finish()
			if err == io.EOF {
				return nil
			}
			return err
		}
	}
}

// grow makes room for the next read.
func (c *copier) grow() {
	if len(c.buf) < cap(c.buf) {
		return
	}
	bigger := make([]byte, len(c.buf), min(2*cap(c.buf), 2*MaxLine))
	copy(bigger, c.buf)
	c.buf = bigger
}

// take handles n bytes that were read behind the unfinished line.
func (c *copier) take(n int) {
	old := len(c.buf)
	c.buf = c.buf[:old+n]
	if c.Tail != nil {
		c.Tail.add(c.buf[old:])
	}
	if c.To == nil || c.Raw {
		c.flushRaw()
		return
	}
	rest := c.buf
	for {
		end := bytes.IndexByte(rest, '\n')
		if end < 0 && len(rest) < MaxLine {
			break
		}
		if end < 0 || end+1 > MaxLine {
			cut := boundary(rest[:MaxLine])
			c.piece(rest[:cut])
			rest = rest[cut:]
			continue
		}
		c.line(rest[:end+1])
		rest = rest[end+1:]
	}
	c.flush()
	// A read that filled the buffer asks for a larger one next time.
	full := len(c.buf) == cap(c.buf) && cap(c.buf) < MaxLine
	c.buf = append(c.buf[:0], rest...)
	if full {
		c.buf = append(make([]byte, 0, 2*cap(c.buf)), c.buf...)
	}
}

// flushRaw passes everything on untouched.
func (c *copier) flushRaw() {
	if c.To != nil {
		c.write(c.buf)
	}
	if cap(c.buf) < MaxLine && len(c.buf) == cap(c.buf) {
		c.buf = make([]byte, 0, 2*cap(c.buf))
	}
	c.buf = c.buf[:0]
}

// line adds a whole line, or the end of one, to the next write.
func (c *copier) line(text []byte) {
	c.begin()
	c.out = append(c.out, text...)
	c.midst = false
}

// piece adds a part of a line that is too long.
func (c *copier) piece(text []byte) {
	c.begin()
	c.out = append(c.out, text...)
	if c.Prefix != "" {
		c.out = append(c.out, '\n')
	}
	c.midst = true
}

// begin writes the prefix that the place needs.
func (c *copier) begin() {
	if c.midst {
		if c.Prefix != "" {
			c.out = append(c.out, c.Continuation...)
		}
		return
	}
	c.out = append(c.out, c.Prefix...)
}

func (c *copier) flush() {
	if len(c.out) > 0 {
		c.write(c.out)
		c.out = c.out[:0]
	}
}

// write passes bytes on; meanwhile a slow console holds the process that wrote them.
func (c *copier) write(p []byte) {
	c.Pulse.hold()
	_, _ = c.To.Write(p) // a Sink takes every write
	c.Pulse.release()
}

// finish writes what stands after the last line end. The line is closed, so that
// the next rank's line does not continue it.
func (c *copier) finish() {
	if c.To == nil || c.Raw || len(c.buf) == 0 {
		return
	}
	c.line(append(c.buf, '\n'))
	c.flush()
}

// boundary is the length of the longest prefix of text that does not cut a UTF-8
// character; text that is no UTF-8 is cut where it ends.
func boundary(text []byte) int {
	for back := 1; back < utf8.UTFMax && back < len(text); back++ {
		c := text[len(text)-back]
		if !utf8.RuneStart(c) {
			continue
		}
		if c >= utf8.RuneSelf && !utf8.FullRune(text[len(text)-back:]) {
			return len(text) - back
		}
		break
	}
	return len(text)
}
