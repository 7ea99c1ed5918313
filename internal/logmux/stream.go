package logmux

import (
	"io"
	"time"
)

// Stream says what becomes of the bytes of one pipe.
type Stream struct {
	To           *Sink                      // nil: not shown
	Prefix       string                     // at the start of every line; empty: none
	Continuation string                     // at the start of the further pieces of a long line
	Stamp        func(now time.Time) string // the prefix where it changes with time, instead of both; nil: it does not
	Color        int                        // of the prefix where the console has colours: 1 and up, repeating; 0: none
	Tail         *Tail                      // keeps the last lines; nil: not kept
	Raw          bool                       // no line discipline: the only writer of its console
	Pulse        *Pulse                     // told of progress; nil: nobody asks
	File         io.Writer                  // gets every byte first, whatever the console does; nil: none
	FileLost     func(cause error)          // told once when File fails: the console goes on without it; nil: nobody is
	Where        string                     // how messages name File
	Holds        time.Duration              // how long a slow console may hold the process where there is a File; 0: for ever
}

// holds is how long the console may hold the process, 0: for ever. It may be given up
// for a while only where the bytes are safe in a file, and a console that is a file
// itself always takes them in the end.
func (s Stream) holds() time.Duration {
	if s.File == nil || s.To == nil || s.To.c.steady {
		return 0
	}
	return s.Holds
}

// Copy moves all bytes of r to the stream's sink and file until its end. The error is
// the reader's, never the console's; io.EOF is nil.
func (s Stream) Copy(r io.Reader) error {
	return s.copier(&patience{most: s.holds()}, new(room)).copy(r)
}
