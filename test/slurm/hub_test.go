//go:build slurm && linux

package slurm

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"lenslaunch/test/harness"
)

// patience is how long a test waits for what must happen: Slurm's own clocks run in
// half minutes. Only a test that fails spends it.
const patience = 100 * time.Second

// hub is where the processes of a test's jobs report.
type hub struct {
	t        *testing.T
	name     string
	marker   string
	arrivals chan *life
	notes    chan report
}

// life is a rank as long as anything of its tree holds the connection.
type life struct {
	report
	conn    net.Conn
	ready   chan struct{}
	signals chan heard
	gone    chan struct{}
	mu      sync.Mutex
	heard   []heard
}

type heard struct {
	name string
	at   time.Time
}

func newHub(t *testing.T) *hub {
	t.Helper()
	h := &hub{t: t, marker: harness.NewMarker(), arrivals: make(chan *life, 256), notes: make(chan report, 256)}
	h.name = "lenslaunch-slurm-" + h.marker
	// An abstract name: no directory has to let the jobs' user in.
	listener, err := net.Listen("unix", "@"+h.name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go h.attend(conn)
		}
	}()
	return h
}

func (h *hub) attend(conn net.Conn) {
	defer conn.Close()
	l := &life{conn: conn, ready: make(chan struct{}), signals: make(chan heard, 256), gone: make(chan struct{})}
	defer close(l.gone)
	lines := bufio.NewScanner(conn)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var r report
		if json.Unmarshal(lines.Bytes(), &r) != nil {
			return
		}
		switch r.Kind {
		case "note":
			h.notes <- r
		case "rank":
			l.report = r
		case "ready":
			h.arrivals <- l
		case "signal":
			l.hear(heard{r.Signal, time.Now()})
		}
	}
}

func (l *life) hear(s heard) {
	l.mu.Lock()
	l.heard = append(l.heard, s)
	l.mu.Unlock()
	l.signals <- s
}

// count is how often the rank has reported a signal.
func (l *life) count(name string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := 0
	for _, s := range l.heard {
		if s.name == name {
			n++
		}
	}
	return n
}

func (l *life) number(key string) int {
	n, err := strconv.Atoi(l.Env[key])
	if err != nil {
		return -1
	}
	return n
}

func (l *life) tell(command string) { _, _ = fmt.Fprintln(l.conn, command) }

// ranks waits for n ranks and returns them in order of RANK.
func (h *hub) ranks(n int) []*life {
	h.t.Helper()
	var list []*life
	for late := time.After(patience); len(list) < n; {
		select {
		case l := <-h.arrivals:
			list = append(list, l)
		case <-late:
			h.t.Fatalf("%d of %d ranks have come", len(list), n)
		}
	}
	slices.SortFunc(list, func(a, b *life) int { return a.number("RANK") - b.number("RANK") })
	return list
}

// note waits for what a script says.
func (h *hub) note(prefix string) report {
	h.t.Helper()
	select {
	case r := <-h.notes:
		if !strings.HasPrefix(r.Text, prefix) {
			h.t.Fatalf("the script says %q, not %q", r.Text, prefix)
		}
		return r
	case <-time.After(patience):
		h.t.Fatalf("the script does not say %q", prefix)
	}
	return report{}
}

// expect waits for a signal to a rank, whatever else comes before.
func (h *hub) expect(l *life, name string) heard {
	h.t.Helper()
	for late := time.After(patience); ; {
		select {
		case s := <-l.signals:
			if s.name == name {
				return s
			}
		case <-l.gone:
			h.t.Fatalf("rank %d has ended without a %s", l.number("RANK"), name)
		case <-late:
			h.t.Fatalf("no %s for rank %d", name, l.number("RANK"))
		}
	}
}

// end waits until nothing of these ranks lives, at most so long.
func (h *hub) end(within time.Duration, list ...*life) {
	h.t.Helper()
	for late := time.After(within); len(list) > 0; list = list[1:] {
		select {
		case <-list[0].gone:
		case <-late:
			h.t.Fatalf("rank %d (pid %d) or what it started lives on after %v", list[0].number("RANK"), list[0].Pid, within)
		}
	}
}
