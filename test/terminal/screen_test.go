//go:build terminal && linux

package terminal

import (
	"context"
	"io"
	"strings"
	"sync"
)

// A screen is what a terminal has shown so far.
type screen struct {
	mu   sync.Mutex
	text strings.Builder
	seen int // up to here a test has found what it looked for

	looked int           // how much there was at the last call of changes
	more   chan struct{} // closed and replaced when text or the end comes
	over   bool
}

func newScreen(r io.Reader) *screen {
	s := &screen{more: make(chan struct{})}
	go s.follow(r)
	return s
}

func (s *screen) follow(r io.Reader) {
	buffer := make([]byte, 4096)
	for {
		n, err := r.Read(buffer)
		s.mu.Lock()
		// Carriage returns only move what is there.
		s.text.WriteString(strings.ReplaceAll(string(buffer[:n]), "\r", ""))
		s.over = err != nil
		close(s.more)
		s.more = make(chan struct{})
		s.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// wait returns when the text has come after what was seen before, and reports whether it
// has come at all.
func (s *screen) wait(ctx context.Context, text string) bool {
	for {
		s.mu.Lock()
		at := strings.Index(s.text.String()[s.seen:], text)
		if at >= 0 {
			s.seen += at + len(text)
		}
		s.mu.Unlock()
		if at >= 0 {
			return true
		}
		if !s.changes(ctx) {
			return false
		}
	}
}

// changes returns when the screen has changed since the test looked at it, or false if
// it will not.
func (s *screen) changes(ctx context.Context) bool {
	s.mu.Lock()
	more, over, looked := s.more, s.over, s.looked == s.text.Len()
	s.looked = s.text.Len()
	s.mu.Unlock()
	if !looked {
		return true
	}
	if over {
		return false
	}
	select {
	case <-more:
		return true
	case <-ctx.Done():
		return false
	}
}

// since is what was shown from a place on.
func (s *screen) since(at int) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()[at:]
}

// place is where a test has looked up to.
func (s *screen) place() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.seen
}

func (s *screen) String() string { return s.since(0) }
