package logmux

import (
	"strconv"
	"strings"
)

// palette has the colours of prefixes, as numbers of the terminal's 256. Each has a
// contrast of at least 3.6 to 1 on black and on white, so that it can be read on any
// background; the order keeps neighbours apart. Red is not among them: it means an
// error to most people.
var palette = [...]int{31, 130, 98, 28, 162, 63, 100, 133}

// Painted is a prefix in one of the colours; they repeat. Its blanks at the end are
// outside of the colour. It first undoes what the line before it may have left on: the
// text itself is never altered.
func Painted(prefix string, color int) string {
	text := strings.TrimRight(prefix, " ")
	if color <= 0 || text == "" {
		return prefix
	}
	number := palette[(color-1)%len(palette)]
	return "\x1b[0;38;5;" + strconv.Itoa(number) + "m" + text + "\x1b[0m" + prefix[len(text):]
}

// Colored reports whether the environment allows colours on a terminal: a NO_COLOR
// that is not empty forbids them (no-color.org), and a terminal that is dumb or has no
// name has none.
func Colored(env map[string]string) bool {
	return env["NO_COLOR"] == "" && smart(env)
}

// smart reports whether the terminal can wipe a line.
func smart(env map[string]string) bool { return env["TERM"] != "" && env["TERM"] != "dumb" }
