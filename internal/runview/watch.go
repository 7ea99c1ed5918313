package runview

import (
	"fmt"
	"time"
)

// Screen is a terminal that shows a table. Package screen has the real one.
type Screen interface {
	Size() (columns, lines int)
	Draw(lines []string) error
	Pause() error // give the terminal back until the reader wants it again
}

// Move is what a reader asks of a live table.
type Move int

// The moves. Others do nothing.
const (
	Leave Move = iota + 1
	Up
	Down
	PageUp
	PageDown
	Top
	Bottom
	Redraw // the terminal has another size
	Pause  // the reader wants the terminal for something else
)

// Watch shows a live table until a move says Leave or moves is closed: a new sample
// with every tick, and at once what a move asks for. It returns the last words about
// the run. A run that ends stays in sight: whoever comes back wants to know.
func Watch(sample func() (Snapshot, error), screen Screen, ticks <-chan time.Time, moves <-chan Move) (string, error) {
	shot, err := sample()
	if err != nil {
		return "", err
	}
	from := 0
	for {
		columns, lines := screen.Size()
		look := Look{Columns: columns, Lines: lines, From: from, Style: true, Keys: true}
		if err := screen.Draw(Table(shot, look)); err != nil {
			return shot.Head, fmt.Errorf("cannot draw: %w", err)
		}
		select {
		case <-ticks:
			// A network file system that is away for a moment is no reason to leave.
			if next, err := sample(); err == nil {
				shot = next
			} else {
				shot.Problem = short(err.Error(), 200)
			}
		case move, ok := <-moves:
			if !ok || move == Leave {
				return shot.Head, nil
			}
			if move == Pause {
				if err := screen.Pause(); err != nil {
					return shot.Head, err
				}
			}
			from = look.move(move, len(shot.Rows))
		}
	}
}

// move is the first row in sight after a move.
func (look Look) move(m Move, rows int) int {
	first, last := look.window(rows)
	page := max(last-first, 1)
	switch m {
	case Up:
		first--
	case Down:
		first++
	case PageUp:
		first -= page
	case PageDown:
		first += page
	case Top:
		first = 0
	case Bottom:
		first = rows
	}
	return min(max(first, 0), max(rows-page, 0))
}
