// Package screen takes over a terminal for a while and gives it back as it was.
//
// Open switches to the terminal's second screen, without a cursor and without echo, so
// that what stood there before is there again after Close: at a normal end, at a signal
// and in a panic, wherever the caller defers Close. Draw replaces the whole screen in
// one write, without clearing it first: it does not flicker, also over ssh. Keys are
// read from the terminal itself, whatever stdin is. Ctrl-C and Ctrl-Z stay signals.
//
//	Open --> Draw, Keys --> Suspend (terminal as it was) --> Resume --> Close
//
// It knows no more of terminals than what every one of the last thirty years does, and
// needs no terminfo. It installs no signal handlers: that SIGWINCH came, and that
// SIGTSTP wants the terminal back, is the caller's to know.
package screen

import "errors"

// ErrNoTerminal says that a file is no terminal that could be taken over.
var ErrNoTerminal = errors.New("not a terminal")

// Key is a key that was typed: a character, or one of these.
type Key rune

// Keys that are no characters.
const (
	KeyUp Key = -1 - iota
	KeyDown
	KeyPageUp
	KeyPageDown
	KeyHome
	KeyEnd
)
