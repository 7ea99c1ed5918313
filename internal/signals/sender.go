package signals

import (
	"fmt"
	"strconv"
	"syscall"
)

// Signal is one that has arrived.
type Signal struct {
	Number syscall.Signal
	Sender Sender
}

// Sender is where a signal came from, as far as the kernel tells.
type Sender struct {
	Kernel  bool   // no process sent it: a key at the terminal, a hang-up, a timer
	Pid     int    // 0: a process outside of our pid namespace
	UID     int    // of that process
	Command string // its name, empty if it has ended or cannot be seen
}

// String is how a message names the sender.
func (s Sender) String() string {
	switch {
	case s.Kernel:
		return "the kernel"
	case s.Pid <= 0:
		return fmt.Sprintf("a process outside of this container (uid %d)", s.UID)
	case s.Command == "":
		return fmt.Sprintf("pid %d (uid %d)", s.Pid, s.UID)
	default:
		return fmt.Sprintf("pid %d (%s, uid %d)", s.Pid, printable(s.Command), s.UID)
	}
}

// printable keeps a process's name, which is anybody's choice, from steering a terminal.
func printable(name string) string {
	quoted := strconv.Quote(name)
	return quoted[1 : len(quoted)-1]
}
