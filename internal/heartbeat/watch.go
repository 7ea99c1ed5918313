package heartbeat

import "time"

// Watch is the progress of one rank. Make it with New when the rank starts. Each
// method that tells of something returns the new state and leaves the old one alone.
type Watch struct {
	timeout  time.Duration // longest time without progress; 0: not watched
	most     time.Duration // how far an extension may reach beyond the last progress
	last     time.Time     // latest progress, or when a period was granted
	extended time.Time     // deadline that the rank asked for, zero: none
	blocked  int           // streams of the rank that our back-pressure holds
	looked   time.Time     // when the heartbeat file was looked at, zero: never
	touched  time.Time     // its time of modification then
}

// New begins to watch a rank: overdue after timeout without progress (--hang-timeout;
// 0 or less: never). A rank may ask for more time, at most most since its last
// progress (--stop-timeout-max).
func New(timeout, most time.Duration, start time.Time) Watch {
	return Watch{timeout: timeout, most: most, last: start}
}

// Progress says that the rank showed at that time that it goes on. Reports may come
// late and out of order.
func (w Watch) Progress(at time.Time) Watch {
	if at.After(w.last) {
		w.last = at
	}
	return w
}

// Fresh grants a whole new period from now on, after a time in which the rank could
// not have made progress.
func (w Watch) Fresh(now time.Time) Watch { return w.Progress(now) }

// Extend says that the rank asked at that time for d more (EXTEND_TIMEOUT_USEC). That
// is no progress: a rank that does nothing but ask is overdue in the end. It never
// shortens the time a rank has.
func (w Watch) Extend(at time.Time, d time.Duration) Watch {
	d = min(max(d, 0), w.most) // a rank may well ask for 292 years
	until, limit := at.Add(d), w.last.Add(w.most)
	if until.After(limit) {
		until = limit
	}
	if until.After(w.extended) {
		w.extended = until
	}
	return w
}

// Block says that one more of the rank's streams is held by our own back-pressure.
// While one is, the rank is not overdue.
func (w Watch) Block() Watch {
	w.blocked++
	return w
}

// Unblock takes one Block back. The rank gets a new period: it may have stood in that
// write all the time.
func (w Watch) Unblock(now time.Time) Watch {
	if w.blocked == 0 {
		return w
	}
	w.blocked--
	return w.Fresh(now)
}

// Deadline is when the rank is overdue if nothing more is heard of it; false if it is
// not watched or its time does not run.
func (w Watch) Deadline() (time.Time, bool) {
	if w.timeout <= 0 || w.blocked > 0 {
		return time.Time{}, false
	}
	deadline := w.last.Add(w.timeout)
	if w.extended.After(deadline) {
		deadline = w.extended
	}
	return deadline, true
}

// Overdue reports whether the rank hangs, as far as was told. Look at its output and
// its file before you believe it.
func (w Watch) Overdue(now time.Time) bool {
	deadline, ok := w.Deadline()
	return ok && !now.Before(deadline)
}

// NextCheck is when to look at the rank next: at its deadline, now if that is over;
// false: not before something is told.
func (w Watch) NextCheck(now time.Time) (time.Time, bool) {
	deadline, ok := w.Deadline()
	if ok && deadline.Before(now) {
		deadline = now
	}
	return deadline, ok
}

// Silence is how long the rank has shown no progress, for the report.
func (w Watch) Silence(now time.Time) time.Duration { return max(now.Sub(w.last), 0) }

// Next is when to look at any of several ranks: one timer serves all.
func Next(watches []Watch, now time.Time) (next time.Time, ok bool) {
	for _, w := range watches {
		if at, runs := w.NextCheck(now); runs && (!ok || at.Before(next)) {
			next, ok = at, true
		}
	}
	return next, ok
}
