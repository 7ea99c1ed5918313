package launcher

import (
	"fmt"
	"strings"
	"syscall"
	"time"

	"lenslaunch/internal/proc"
)

// Rung is one step of a stop ladder.
type Rung struct {
	Signal syscall.Signal
	After  time.Duration // from the first signal
}

// Ladder is how workers are asked to stop, and when they are killed.
type Ladder struct {
	Rungs []Rung
	Kill  time.Duration // SIGKILL, from the first signal
}

// ParseLadder reads `SIG[:D,...]`, such as "SIGTERM" or "INT:5s,TERM:15s": each
// signal is followed by the time that the workers get before the next one. Only
// the last may lack a time; it then has what is left of timeout. With a time it
// sets the moment of SIGKILL, and timeout is not used.
func ParseLadder(text string, timeout time.Duration) (Ladder, error) {
	var l Ladder
	parts := strings.Split(text, ",")
	at := time.Duration(0)
	for i, part := range parts {
		name, wait, timed := strings.Cut(strings.TrimSpace(part), ":")
		sig, err := proc.ParseSignal(name)
		if err != nil {
			return Ladder{}, err
		}
		l.Rungs = append(l.Rungs, Rung{Signal: sig, After: at})
		if !timed {
			if i < len(parts)-1 {
				return Ladder{}, fmt.Errorf("%q has no time: write how long to wait before the next signal, as in INT:5s,TERM:15s", part)
			}
			l.Kill = max(timeout, at)
			break
		}
		d, err := time.ParseDuration(wait)
		if err != nil || d < 0 {
			return Ladder{}, fmt.Errorf("%q is no time to wait: write it as in INT:5s,TERM:15s", wait)
		}
		at += d
		l.Kill = at
	}
	return l, nil
}

// String is for records: "SIGINT, after 5s SIGTERM, after 20s SIGKILL".
func (l Ladder) String() string {
	var b strings.Builder
	for i, r := range l.Rungs {
		if i > 0 {
			fmt.Fprintf(&b, ", after %v ", r.After)
		}
		b.WriteString(proc.SignalName(r.Signal))
	}
	fmt.Fprintf(&b, ", after %v SIGKILL", l.Kill)
	return b.String()
}

// Within is the ladder with SIGKILL no later than limit. Rungs after it are gone.
func (l Ladder) Within(limit time.Duration) Ladder {
	short := Ladder{Kill: min(l.Kill, limit)}
	for i, r := range l.Rungs {
		if i == 0 || r.After < short.Kill {
			short.Rungs = append(short.Rungs, r)
		}
	}
	return short
}
