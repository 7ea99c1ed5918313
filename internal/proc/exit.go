package proc

import (
	"fmt"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// Exit is how a process ended: by code, or by a signal.
type Exit struct {
	Code   int            // exit code, 0..255; meaningless if Signal is set
	Signal syscall.Signal // the signal that killed it, 0 if it ended by code
	Core   bool           // the kernel wrote a core dump
}

// OK reports whether the process ended by itself with code 0.
func (e Exit) OK() bool { return e.Signal == 0 && e.Code == 0 }

// ShellCode is the code a shell would report: the exit code, or 128 plus the
// number of the signal.
func (e Exit) ShellCode() int {
	if e.Signal != 0 {
		return 128 + int(e.Signal)
	}
	return e.Code
}

// String says what happened in the words of a report: "exit code 3", "SIGSEGV".
func (e Exit) String() string {
	switch {
	case e.Signal != 0 && e.Core:
		return SignalName(e.Signal) + " (core dumped)"
	case e.Signal != 0:
		return SignalName(e.Signal)
	default:
		return fmt.Sprintf("exit code %d", e.Code)
	}
}

// SignalName is the name of a signal with its SIG prefix, or "signal 42" where it
// has none.
func SignalName(sig syscall.Signal) string {
	if name := unix.SignalName(sig); name != "" {
		return name
	}
	if name, ok := realtimeName(sig); ok {
		return name
	}
	return fmt.Sprintf("signal %d", int(sig))
}

// ParseSignal reads a signal's name, with or without SIG, in any case, or its
// number ("TERM", "sigusr1", "10"). It refuses numbers outside 1..64.
func ParseSignal(text string) (syscall.Signal, error) {
	name := strings.ToUpper(strings.TrimSpace(text))
	if n, ok := decimal(name); ok {
		if n < 1 || n > 64 {
			return 0, fmt.Errorf("%q is no signal number: they go from 1 to 64", text)
		}
		return syscall.Signal(n), nil
	}
	if !strings.HasPrefix(name, "SIG") {
		name = "SIG" + name
	}
	if sig := unix.SignalNum(name); sig != 0 {
		return sig, nil
	}
	if sig, ok := parseRealtime(name); ok {
		return sig, nil
	}
	return 0, fmt.Errorf("%q is no signal: use a name such as TERM, INT or USR1, or a number", text)
}

// decimal reads up to three ASCII digits.
func decimal(text string) (int, bool) {
	if text == "" || len(text) > 3 {
		return 0, false
	}
	n := 0
	for _, c := range text {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + int(c-'0')
	}
	return n, true
}

// The C library keeps 32 and 33 for itself; its SIGRTMIN is 34 and SIGRTMAX 64.
const (
	realtimeMin = 34
	realtimeMax = 64
)

func realtimeName(sig syscall.Signal) (string, bool) {
	if sig < realtimeMin || sig > realtimeMax {
		return "", false
	}
	return fmt.Sprintf("SIGRTMIN+%d", int(sig)-realtimeMin), true
}

func parseRealtime(name string) (syscall.Signal, bool) {
	if name == "SIGRTMIN" {
		return realtimeMin, true
	}
	if name == "SIGRTMAX" {
		return realtimeMax, true
	}
	rest, ok := strings.CutPrefix(name, "SIGRTMIN+")
	if !ok {
		return 0, false
	}
	n, ok := decimal(rest)
	if !ok || realtimeMin+n > realtimeMax {
		return 0, false
	}
	return syscall.Signal(realtimeMin + n), true
}
