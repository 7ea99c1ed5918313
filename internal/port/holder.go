package port

import (
	"fmt"
	"strings"
)

// Holder is a process that has a socket on a port.
type Holder struct {
	Pid     int
	Command string // the command line, shortened and printable
}

// InUseError says that a port is taken, and by whom.
type InUseError struct {
	Port    int
	Holders []Holder // lowest pid first; empty if none can be seen
}

// Error names the first holder; forked servers share one socket, and their
// first process is the one to stop.
func (e *InUseError) Error() string {
	if len(e.Holders) == 0 {
		return fmt.Sprintf("cannot reserve port %d: in use by a process that cannot be seen from here (another user's, or one that has bound the port and does not listen)", e.Port)
	}
	more := ""
	if n := len(e.Holders) - 1; n > 0 {
		more = fmt.Sprintf(" and %d more", n)
	}
	return fmt.Sprintf("cannot reserve port %d: in use by pid %d (%s)%s", e.Port, e.Holders[0].Pid, e.Holders[0].Command, more)
}

// commandWidth keeps an error on one line: a training command may have
// thousands of characters.
const commandWidth = 80

// command makes one printable line of what /proc/PID/cmdline holds.
func command(cmdline, comm string) string {
	text := strings.Join(strings.FieldsFunc(cmdline, func(r rune) bool { return r == 0 }), " ")
	if text == "" {
		text = strings.TrimSpace(comm)
	}
	text = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || (0x80 <= r && r < 0xa0) {
			return '?' // an escape sequence of a stranger must not reach our terminal
		}
		return r
	}, strings.ToValidUTF8(text, "?"))
	if runes := []rune(text); len(runes) > commandWidth {
		text = string(runes[:commandWidth-3]) + "..."
	}
	return text
}
