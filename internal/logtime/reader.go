package logtime

import (
	"bufio"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"time"
)

// mark stands before an entry that does not build on the one before it. No entry
// begins with it otherwise, since times differ by a millisecond at least.
const mark = 0

// longest is more bytes than an entry has: a mark and two numbers.
const longest = 1 + 2*binary.MaxVarintLen64

// Reader reads an index, entry by entry.
type Reader struct {
	r    *bufio.Reader
	last Entry
}

// NewReader reads the index in r.
func NewReader(r io.Reader) *Reader { return &Reader{r: bufio.NewReaderSize(r, 512)} }

// Next is the next entry. Times and sizes never go back from one to the next. io.EOF
// says that there is no more yet, or that the rest is no index; after the first, later
// calls go on with what was written since.
func (r *Reader) Next() (Entry, error) {
	text, err := r.r.Peek(longest)
	if err != nil && !errors.Is(err, io.EOF) {
		return Entry{}, err
	}
	next, size := decode(text, r.last)
	if size == 0 {
		return Entry{}, io.EOF
	}
	if _, err := r.r.Discard(size); err != nil {
		return Entry{}, err
	}
	r.last = next
	return next, nil
}

// decode reads the entry at the beginning of a text, behind another. The size is 0
// where there is no whole one.
func decode(text []byte, last Entry) (next Entry, size int) {
	base := last
	if len(text) > 0 && text[0] == mark {
		base, size = Entry{At: time.UnixMilli(0)}, 1
	} else if last.At.IsZero() {
		return Entry{}, 0 // it does not begin as an index does
	}
	ms, n := binary.Uvarint(text[size:])
	if n <= 0 {
		return Entry{}, 0
	}
	size += n
	more, n := binary.Uvarint(text[size:])
	if n <= 0 {
		return Entry{}, 0
	}
	next, ok := base.plus(ms, more)
	if !ok || next.At.Before(last.At) || next.End < last.End {
		return Entry{}, 0
	}
	return next, size + n
}

// plus is the entry that stands so much later in time and log; ok is false where that
// is no time or no size.
func (e Entry) plus(ms, size uint64) (next Entry, ok bool) {
	const most = 1 << 48 // milliseconds: some 9,000 years
	from := e.At.UnixMilli()
	if ms > most || from+int64(ms) > most || size > math.MaxInt64-uint64(e.End) {
		return Entry{}, false
	}
	return Entry{At: time.UnixMilli(from + int64(ms)), End: e.End + int64(size)}, true
}
