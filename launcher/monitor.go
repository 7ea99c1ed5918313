package launcher

import (
	"strconv"
	"syscall"
	"time"

	"lenslaunch/internal/heartbeat"
	"lenslaunch/internal/logmux"
	"lenslaunch/internal/notify"
)

// Hang is when a rank without progress is a failure, and what is done about it (issue
// 3, "Hang detection"). The zero value is off.
type Hang struct {
	Timeout time.Duration  // --hang-timeout, 0: off
	Command string         // --on-hang, run by a shell with PID and RANK; empty: none
	Signal  syscall.Signal // --hang-signal, sent to the leader after Command; 0: none
}

// monitor watches the progress of an attempt's ranks: output, heartbeat files and
// notifications. It is a goroutine with one timer, set for the earliest deadline, so
// an idle job is not woken up. It answers with inHang and inMoreTime.
type monitor struct {
	hang     Hang
	most     time.Duration
	attempt  int
	dir      string // of heartbeat files, empty: none
	sockets  string // of notification sockets, empty: none
	news     chan news
	stop     chan struct{}
	out      chan<- input
	pending  []input // for out: the loop may be telling us something meanwhile
	watches  map[int]*watched
	due      time.Time // of the timer
	paused   bool      // the ranks stand still
	asking   bool      // an answer about files is on its way, and judges
	measure  func(paths []string) map[string]seen
	clock    heartbeat.Clock
	listened []*notify.Socket
}

// watched is one rank.
type watched struct {
	heartbeat.Watch
	pulse *logmux.Pulse
	file  heartbeat.File
	filed bool

	outputs []output  // files that it writes itself
	looked  time.Time // when they were looked at before
}

// news is one thing that the monitor is told.
type news struct {
	local   int
	at      time.Time
	begin   *watched        // the rank was started
	ended   bool            // the rank has ended
	message *notify.Message // it said something of itself
	paused  bool            // all ranks: they stand still from now on, until fresh
	fresh   bool            // all ranks: they could not have made progress
	found   map[string]seen // what ask has found out
}

func newMonitor(c Config, attempt int, dir, sockets string, out chan<- input) *monitor {
	m := &monitor{
		hang: c.Hang, most: c.StopMax, attempt: attempt, dir: dir, sockets: sockets, out: out,
		news: make(chan news), stop: make(chan struct{}), watches: map[int]*watched{}, measure: measure,
	}
	m.clock, _ = heartbeat.Now() // a kernel without the clocks shows no suspension
	return m
}

// prepare makes what a rank shows its progress with, and returns the variables that
// tell the rank of it.
func (m *monitor) prepare(local, rank int) (map[string]string, *watched, error) {
	env := map[string]string{}
	w := &watched{pulse: new(logmux.Pulse)}
	if m.dir != "" && m.hang.Timeout > 0 {
		file, err := heartbeat.Create(m.dir, rank)
		if err != nil {
			return nil, nil, err
		}
		w.file, w.filed = file, true
		env["LENSLAUNCH_HEARTBEAT_FILE"] = file.Path()
	}
	if m.sockets != "" {
		socket, err := notify.Listen(m.sockets, strconv.Itoa(m.attempt)+"-"+strconv.Itoa(rank))
		if err != nil {
			return nil, nil, err
		}
		m.listened = append(m.listened, socket)
		for key, value := range notify.Environment(socket.Path(), m.hang.Timeout) {
			env[key] = value
		}
		go func() {
			// A socket that breaks is silence: the rank is judged by its output.
			_ = socket.Receive(func(msg notify.Message, at time.Time) { m.tell(news{local: local, at: at, message: &msg}) })
		}()
	}
	return env, w, nil
}

// tell passes news on, unless the attempt is over.
func (m *monitor) tell(n news) {
	select {
	case m.news <- n:
	case <-m.stop:
	}
}

// close ends the monitor. No input comes from it afterwards.
func (m *monitor) close() {
	close(m.stop)
	for _, s := range m.listened {
		s.Close()
	}
}

// answer queues an input for the loop.
func (m *monitor) answer(in input) { m.pending = append(m.pending, in) }

// run is the monitor's goroutine.
func (m *monitor) run() {
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		m.arm(timer)
		var out chan<- input
		var first input
		if len(m.pending) > 0 {
			out, first = m.out, m.pending[0]
		}
		select {
		case n := <-m.news:
			m.hear(n)
		case <-timer.C:
			m.look(time.Now())
		case out <- first:
			m.pending = m.pending[1:]
		case <-m.stop:
			return
		}
	}
}

// arm sets the timer for the earliest deadline; without one it stays silent.
func (m *monitor) arm(timer *time.Timer) {
	timer.Stop()
	if m.paused || m.asking {
		return
	}
	var list []heartbeat.Watch
	for _, w := range m.watches {
		list = append(list, w.Watch)
	}
	now := time.Now()
	if next, ok := heartbeat.Next(list, now); ok {
		m.due = next
		timer.Reset(next.Sub(now))
	}
}

// hear takes one piece of news.
func (m *monitor) hear(n news) {
	w := m.watches[n.local]
	switch {
	case n.found != nil:
		m.asking = false
		m.judge(n.at, n.found)
		return
	case n.begin != nil:
		n.begin.Watch = heartbeat.New(m.hang.Timeout, m.most, n.at)
		if modified, err := n.begin.file.Touched(); n.begin.filed && err == nil {
			n.begin.Watch = n.begin.Watch.Touched(n.at, modified)
		}
		n.begin.looked = n.at
		m.watches[n.local] = n.begin
	case n.paused:
		m.paused = true
	case n.fresh:
		m.paused = false
		m.refresh(n.at)
	case n.ended:
		delete(m.watches, n.local)
	case n.message != nil && n.message.Extend > 0:
		// Of a rank that is stopping, too: there it moves the ladder.
		m.answer(inMoreTime{at: n.at, attempt: m.attempt, local: n.local, extra: n.message.Extend})
		if w != nil {
			w.Watch = w.Extend(n.at, n.message.Extend)
		}
	}
	if w == nil || n.message == nil {
		return
	}
	if n.message.Progress() {
		w.Watch = w.Progress(n.at)
	}
	if n.message.Trigger {
		// WATCHDOG=trigger: it has found out by itself that it hangs.
		m.hung(n.local, n.at)
	}
}

// hung reports a rank that hangs, once.
func (m *monitor) hung(local int, at time.Time) {
	silent := max(m.watches[local].Silence(at), time.Millisecond)
	delete(m.watches, local)
	m.answer(inHang{at: at, attempt: m.attempt, local: local, silent: silent})
}

func (m *monitor) refresh(at time.Time) {
	for _, w := range m.watches {
		w.Watch = w.Fresh(at)
	}
}

// look looks at what can only be looked up, and then judges.
func (m *monitor) look(now time.Time) {
	clock, err := heartbeat.Now()
	if err == nil && heartbeat.Suspended(m.clock, clock) > 0 || heartbeat.Late(m.due, now, m.hang.Timeout) > 0 {
		m.refresh(now)
	}
	m.clock = clock
	if !m.ask() {
		m.judge(now, nil)
	}
}

// judge finds the ranks that hang.
func (m *monitor) judge(now time.Time, found map[string]seen) {
	for local, w := range m.watches {
		if last, any := w.pulse.Last(); any {
			w.Watch = w.Progress(last)
		}
		if at, any := w.grown(found, now); any {
			w.Watch = w.Progress(at)
		}
		w.looked = now
		if w.pulse.Held() {
			w.Watch = w.Fresh(now)
		}
		if w.filed {
			if modified, err := w.file.Touched(); err == nil {
				w.Watch = w.Touched(now, modified)
			}
		}
		// Whoever stands still now had no chance since the answer was asked for.
		if !m.paused && w.Overdue(now) {
			m.hung(local, now)
		}
	}
}

// watches reports whether an attempt needs a monitor: with hang detection, or where
// ranks may ask for more time to stop.
func (c Config) watches() bool { return c.Hang.Timeout > 0 || c.StopMaxSet }
