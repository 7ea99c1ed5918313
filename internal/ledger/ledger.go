package ledger

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

// ErrNoAttempt and ErrEnded are causes of an error of [Ledger.End].
var (
	ErrNoAttempt = errors.New("no such attempt")
	ErrEnded     = errors.New("the attempt has ended already")
)

// Ledger is the ledger of one job. It holds no file open between calls and is
// safe for concurrent use, by several processes too.
type Ledger struct {
	dir  string
	file string
	name name

	self  func() (Launcher, error)
	alive func(Launcher) bool
	now   func() time.Time
	step  func(string) // called after each step of a write
}

// Open names a ledger; nothing is read or created yet. file is what [Name]
// returns, dir what [Dir] returns, or [Path] to read only.
func Open(dir, file string) (*Ledger, error) {
	n, err := parseName(file)
	if err != nil {
		return nil, err
	}
	return &Ledger{
		dir: dir, file: file, name: n,
		self: self, alive: alive, now: time.Now, step: func(string) {},
	}, nil
}

func (l *Ledger) path() string { return filepath.Join(l.dir, l.file) }

// Read returns the history: empty if there is no file or no directory yet. An
// attempt without an end has [OutcomeRunning] or [OutcomeUnknown]. Nothing is
// written and no lock is taken.
func (l *Ledger) Read() (History, error) {
	dir, err := openDir(l.dir)
	if errors.Is(err, unix.ENOENT) {
		return History{}, nil
	}
	if err != nil {
		return History{}, fmt.Errorf("cannot use state directory %s: %w", l.dir, err)
	}
	defer dir.Close()
	h, err := l.load(dir)
	if err != nil {
		return History{}, err
	}
	return l.view(h), nil
}

// view fills in the outcomes that nobody recorded. It does not change h.
func (l *Ledger) view(h History) History {
	shown := make([]Attempt, len(h.Attempts))
	for i, a := range h.Attempts {
		if a.Ended.IsZero() {
			a.Outcome = OutcomeUnknown
			if l.alive(a.Launcher) {
				a.Outcome = OutcomeRunning
			}
		}
		shown[i] = a
	}
	h.Attempts = shown
	return h
}

// Begin enters the next attempt and returns it as it was written. next gets
// the history as [Ledger.Read] returns it and answers with Number,
// RestartCount, UUID and Execution; Begin fills in the rest. No other launcher
// reads or writes the ledger meanwhile, so next should only compute. When
// Begin returns without an error the attempt is on disk: workers may start.
//
// Errors: what next returned, unchanged; a [*FileError] if the file is not
// usable; numbers or a UUID that were given out before; a lock that ctx ended
// the waiting for; and what the file system says. An attempt may have been
// entered although Begin failed at the very end; its numbers are not used
// again.
func (l *Ledger) Begin(ctx context.Context, next func(History) (Attempt, error)) (Attempt, error) {
	var begun Attempt
	err := l.locked(ctx, func(dir *os.File) error {
		h, err := l.load(dir)
		if err != nil {
			return err
		}
		a, err := next(l.view(h))
		if err != nil {
			return err
		}
		if a.Launcher, err = l.self(); err != nil {
			return fmt.Errorf("cannot enter an attempt: %w", err)
		}
		// Whole and in UTC: what is returned equals what is read back.
		a.Began, a.Ended, a.Outcome = l.now().UTC().Round(0), time.Time{}, ""
		if err := l.admit(h, a); err != nil {
			return err
		}
		begun = a
		return l.store(dir, h.with(a))
	})
	if err != nil {
		return Attempt{}, err
	}
	return begun, nil
}

// admit is the last line of defence of "no two attempts share a UUID".
func (l *Ledger) admit(h History, a Attempt) error {
	err := a.check(h.LastRestartCount())
	if next := h.NextNumber(a.Execution); err == nil && a.Number < next {
		err = fmt.Errorf("its number is %d, and %d is the next of execution %q", a.Number, next, a.Execution)
	}
	for _, other := range h.Attempts {
		if err == nil && other.UUID == a.UUID {
			err = fmt.Errorf("its UUID %s belongs to attempt %d, which began at %s", a.UUID, other.Number, other.Began.Format(time.RFC3339))
		}
	}
	if err != nil {
		return fmt.Errorf("cannot enter an attempt into ledger %s: %w", l.path(), err)
	}
	return nil
}

// End records how an attempt ended. An end is recorded once: ErrEnded if it
// has one, ErrNoAttempt if the attempt is not in the ledger (any more).
func (l *Ledger) End(ctx context.Context, attemptUUID, outcome string) error {
	if outcome == "" || outcome == OutcomeRunning {
		return fmt.Errorf("cannot end attempt %s: %q is no outcome", attemptUUID, outcome)
	}
	return l.locked(ctx, func(dir *os.File) error {
		h, err := l.load(dir)
		if err != nil {
			return err
		}
		for i, a := range h.Attempts {
			if a.UUID != attemptUUID {
				continue
			}
			if !a.Ended.IsZero() {
				return fmt.Errorf("cannot end attempt %s as %q: %w, as %q", attemptUUID, outcome, ErrEnded, a.Outcome)
			}
			h.Attempts[i].Ended, h.Attempts[i].Outcome = l.now().UTC().Round(0), outcome
			return l.store(dir, h)
		}
		return fmt.Errorf("cannot end attempt %s: %w in ledger %s", attemptUUID, ErrNoAttempt, l.path())
	})
}
