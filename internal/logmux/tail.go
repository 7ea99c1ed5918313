package logmux

import (
	"bytes"
	"strings"
	"sync"
)

// Tail keeps the last lines of a stream for a failure report. Its memory is
// bounded: at most Lines lines and tailBytes bytes.
type Tail struct {
	Lines int

	mu  sync.Mutex
	buf []byte
}

// tailBytes is enough for 20 long lines of a traceback.
const tailBytes = 16 << 10

// add appends bytes of the stream, whole lines or not.
func (t *Tail) add(p []byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(p) >= tailBytes {
		t.buf = append(t.buf[:0], p[len(p)-tailBytes:]...)
		return
	}
	if over := len(t.buf) + len(p) - tailBytes; over > 0 {
		t.buf = append(t.buf[:0], t.buf[over:]...)
	}
	t.buf = append(t.buf, p...)
}

// Last returns the last lines, oldest first, without their line ends. Bytes that
// are no valid UTF-8 are replaced, because reports go into JSON too.
func (t *Tail) Last() []string {
	t.mu.Lock()
	text := strings.ToValidUTF8(string(bytes.TrimRight(t.buf, "\r\n")), "\uFFFD")
	full := len(t.buf) >= tailBytes
	t.mu.Unlock()
	if text == "" {
		return nil
	}
	lines := strings.Split(text, "\n")
	// The first line of a full buffer has lost its beginning.
	if full && len(lines) > 1 {
		lines = lines[1:]
	}
	if len(lines) > t.Lines {
		lines = lines[len(lines)-t.Lines:]
	}
	for i, line := range lines {
		lines[i] = strings.TrimRight(line, "\r")
	}
	return lines
}
