package launcher

import (
	"encoding/json"
	"io"
	"os"
	"strings"
	"syscall"
)

// Evidence is what the rank that decided said about its failure.
type Evidence struct {
	Message string   // from its error file, may have several lines
	Stderr  []string // else its last lines of stderr
	Unseen  bool     // stderr went to the launcher's own, so there is no tail
}

// errorFileLimit bounds what is read of an error file: it is written by a process
// that failed.
const errorFileLimit = 1 << 20

// readErrorFile reads torch's error file: JSON with `message` as text, or as an
// object with `message` and `extraInfo.py_callstack`. Anything else is no message
// and no error: what a failing rank left behind must not fail the launcher.
func readErrorFile(path string) string {
	// Not to wait for the other end, should it be a pipe.
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return ""
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return ""
	}
	text, err := io.ReadAll(io.LimitReader(f, errorFileLimit))
	if err != nil {
		return ""
	}
	return parseErrorFile(text)
}

func parseErrorFile(text []byte) string {
	var file struct{ Message json.RawMessage }
	if json.Unmarshal(text, &file) != nil {
		return ""
	}
	var plain string
	if json.Unmarshal(file.Message, &plain) == nil {
		return printable(plain)
	}
	var rich struct {
		Message   string
		ExtraInfo struct {
			Callstack string `json:"py_callstack"`
		}
	}
	if json.Unmarshal(file.Message, &rich) != nil {
		return ""
	}
	// The call stack ends with the message, so it says all.
	if rich.ExtraInfo.Callstack != "" {
		return printable(rich.ExtraInfo.Callstack)
	}
	return printable(rich.Message)
}

// printable keeps a worker's text from steering the reader's terminal. Indentation
// stays: tracebacks need it.
func printable(text string) string {
	text = strings.TrimRight(strings.ToValidUTF8(text, "\uFFFD"), " \t\r\n")
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' || r >= ' ' && r != 0x7f && (r < 0x80 || r > 0x9f) {
			return r
		}
		return '\uFFFD'
	}, text)
}

// onLine is printable for what has no lines of its own: a name may hold anything.
func onLine(text string) string {
	return strings.NewReplacer("\n", " ", "\t", " ").Replace(printable(text))
}
