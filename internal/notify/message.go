package notify

import (
	"bytes"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// MaxMessage is the size of the longest message that is read, in bytes: systemd's
// own limit, so no client sends more.
const MaxMessage = 4096

// Message is what one datagram said. A key that was not in it leaves its field zero.
type Message struct {
	Ready     bool // READY=1: started up
	Reloading bool // RELOADING=1
	Stopping  bool // STOPPING=1: shutting down
	Watchdog  bool // WATCHDOG=1: alive
	Trigger   bool // WATCHDOG=trigger: treat me as if I hung

	HasStatus bool   // STATUS= was there, perhaps empty
	Status    string // valid UTF-8 without control characters, so that it can be printed

	Extend         time.Duration // EXTEND_TIMEOUT_USEC: more time from now on; 0 is no request
	WatchdogPeriod time.Duration // WATCHDOG_USEC: a new watchdog period
	MainPID        int           // MAINPID
	Errno          int           // ERRNO: why it failed

	Pid int // the sender, in our pid namespace; 0 if it lives in a foreign one. Set by Receive
}

// Progress reports whether the message shows that its rank goes on: WATCHDOG=1,
// STATUS= or READY=1 (issue 3). A request for more time alone does not.
func (m Message) Progress() bool { return m.Watchdog || m.HasStatus || m.Ready }

// Parse reads a datagram. It never fails: unknown keys, values that are none and
// lines without "=" are ignored, of a key that comes twice the first counts, and a
// text that is too long or has a NUL inside says nothing (all as systemd does).
func Parse(text []byte) Message {
	var m Message
	if len(text) > MaxMessage {
		return m
	}
	text = bytes.TrimRight(text, "\x00") // C programs send the end of their string too
	if bytes.IndexByte(text, 0) >= 0 {
		return m
	}
	seen := make(map[string]bool)
	for line := range strings.SplitSeq(string(text), "\n") {
		key, value, ok := strings.Cut(line, "=")
		if !ok || seen[key] {
			continue
		}
		seen[key] = true
		m.set(key, value)
	}
	return m
}

func (m *Message) set(key, value string) {
	switch key {
	case "READY":
		m.Ready = value == "1"
	case "RELOADING":
		m.Reloading = value == "1"
	case "STOPPING":
		m.Stopping = value == "1"
	case "WATCHDOG":
		m.Watchdog, m.Trigger = value == "1", value == "trigger"
	case "STATUS":
		m.HasStatus, m.Status = true, printable(value)
	case "EXTEND_TIMEOUT_USEC":
		m.Extend = microseconds(value)
	case "WATCHDOG_USEC":
		m.WatchdogPeriod = microseconds(value)
	case "MAINPID":
		m.MainPID = number(value)
	case "ERRNO":
		m.Errno = number(value)
	}
}

// number reads a positive decimal that fits 32 bits, as pids and errnos do; 0 if the
// text is none.
func number(text string) int {
	n, err := strconv.ParseUint(text, 10, 31)
	if err != nil {
		return 0
	}
	return int(n)
}

// microseconds reads an unsigned number of microseconds. More than a Duration holds
// (systemd's "infinity" is the largest uint64) is the longest Duration, not a
// negative one.
func microseconds(text string) time.Duration {
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		return 0
	}
	if n > math.MaxInt64/uint64(time.Microsecond) {
		return math.MaxInt64
	}
	return time.Duration(n) * time.Microsecond
}

// printable makes a foreign text safe to show: a status goes to terminals and into
// reports, where an escape sequence or half a character does harm.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return unicode.ReplacementChar
		}
		return r
	}, strings.ToValidUTF8(text, string(unicode.ReplacementChar)))
}
