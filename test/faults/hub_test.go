//go:build faults && linux

package faults

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net"
	"testing"

	"lenslaunch/test/harness"
)

// hub is where ranks report.
type hub struct {
	listener net.Listener
	arrivals chan *life
}

// life is one rank's tree, as long as it holds its connection.
type life struct {
	report
	conn   net.Conn
	echoes chan string   // what the rank answers
	gone   chan struct{} // closed: no process of the tree lives
}

// newHub listens on a name of its own. The name is abstract: no directory has to let
// an unprivileged rank in.
func newHub(t testing.TB) *hub {
	t.Helper()
	listener, err := net.Listen("unix", "@lenslaunch-faults-"+harness.NewMarker())
	if err != nil {
		t.Fatalf("cannot listen for ranks: %v", err)
	}
	h := &hub{listener: listener, arrivals: make(chan *life, 64)}
	t.Cleanup(func() { listener.Close() })
	go h.accept()
	return h
}

func (h *hub) accept() {
	for {
		conn, err := h.listener.Accept()
		if err != nil {
			return
		}
		go h.attend(conn)
	}
}

// attend reads a rank's report, then its answers, until the last process that holds
// the connection has ended.
func (h *hub) attend(conn net.Conn) {
	defer conn.Close()
	l := &life{conn: conn, echoes: make(chan string, 64), gone: make(chan struct{})}
	defer close(l.gone)
	sc := bufio.NewScanner(conn)
	if !sc.Scan() || json.Unmarshal(sc.Bytes(), &l.report) != nil {
		return
	}
	h.arrivals <- l
	for sc.Scan() {
		l.echoes <- sc.Text()
	}
}

// tell gives the rank a command. One that has ended cannot be told: the test sees
// that by other means.
func (l *life) tell(command string) { _, _ = fmt.Fprintln(l.conn, command) }

func (l *life) isGone() bool {
	select {
	case <-l.gone:
		return true
	default:
		return false
	}
}
