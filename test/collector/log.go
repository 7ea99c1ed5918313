package collector

import (
	"bufio"
	"encoding/json"
	"io"
	"strings"
	"sync"
)

// log is what a Collector says on stderr: a JSON object in each line.
type log struct {
	mu    sync.Mutex
	lines strings.Builder

	ready     chan struct{}     // closed when it says that it is
	endpoints map[string]string // by protocol; complete when it is ready
}

func newLog() *log {
	return &log{ready: make(chan struct{}), endpoints: map[string]string{}}
}

// read reads until the process has ended.
func (l *log) read(stderr io.Reader) {
	for s := bufio.NewReader(stderr); ; {
		line, err := s.ReadString('\n')
		l.heed(line)
		if err != nil {
			return
		}
	}
}

// heed learns from a line where the Collector listens, and that it is ready.
func (l *log) heed(line string) {
	l.mu.Lock()
	l.lines.WriteString(line)
	l.mu.Unlock()
	var said struct{ Msg, Endpoint string }
	if json.Unmarshal([]byte(line), &said) != nil {
		return // a panic's text
	}
	switch {
	case said.Msg == "Starting GRPC server":
		l.endpoints[GRPC] = said.Endpoint
	case said.Msg == "Starting HTTP server":
		l.endpoints[HTTP] = said.Endpoint
	case strings.HasPrefix(said.Msg, "Everything is ready."):
		close(l.ready)
	}
}

// text is all that it has said.
func (l *log) text() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.lines.String()
}
