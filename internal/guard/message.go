package guard

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"lenslaunch/internal/proc"
	"lenslaunch/internal/tree"
)

// Attempt is what the guard must know of an attempt before its first process.
type Attempt struct {
	Finder tree.Finder // what belongs to it; leaders come later
	Cgroup string      `json:",omitempty"` // path of its control group, empty: none
	Remove []string    `json:",omitempty"` // private directories to remove
	Ledger *Entry      `json:",omitempty"` // where its end is to be noted
}

// Command is a run of this program. Its environment is in the guard's memory alone: the
// guard itself has none.
type Command struct{ Args, Env []string }

// Ended stands in an argument of a Command for the time when the launcher went.
const Ended = "{ended}"

// Entry names an attempt in a ledger.
type Entry struct{ Dir, File, UUID string }

// message is one line on the pipe; exactly one field is set.
type message struct {
	Attempt *Attempt `json:",omitempty"` // a new attempt begins
	Last    *Command `json:",omitempty"` // what to run in the end, should the launcher be killed
	Leader  *proc.ID `json:",omitempty"` // a rank of it was started
	Reaped  uint64   `json:",omitempty"` // the first leader of it is reaped, at that time (proc.Now)
	Over    bool     `json:",omitempty"` // nothing of it is left
	Bye     bool     `json:",omitempty"` // the launcher ends by itself
}

// Watch is what a guard has been told so far.
type Watch struct {
	Attempt *Attempt  // nil: nothing to guard
	Last    *Command  // nil: nothing to run
	Leaders []proc.ID // of the attempt, in order of start
	Reaped  uint64    // no leader was reaped before (proc.Now); 0: none yet
}

// lineLimit bounds a message. An attempt's has a few paths and the processes that
// the launcher had before; the pipe is ours, so a longer one is a bug.
const lineLimit = 1 << 20

// errGarbled says that the pipe holds what no launcher writes.
var errGarbled = errors.New("cannot read what the launcher says")

// read takes messages until the launcher says farewell or is gone. bye tells which.
func read(r io.Reader) (w Watch, bye bool, err error) {
	sc := bufio.NewScanner(r)
	sc.Buffer(make([]byte, 0, 4096), lineLimit)
	for sc.Scan() {
		var m message
		if err := json.Unmarshal(sc.Bytes(), &m); err != nil {
			// A line that was cut by the launcher's death is its last word: what was
			// told before still stands.
			return w, false, fmt.Errorf("%w: %w", errGarbled, err)
		}
		if m.Bye {
			return Watch{}, true, nil
		}
		w.apply(m)
	}
	return w, false, sc.Err()
}

func (w *Watch) apply(m message) {
	switch {
	case m.Attempt != nil:
		*w = Watch{Attempt: m.Attempt, Last: w.Last}
	case m.Last != nil:
		w.Last = m.Last
	case m.Leader != nil:
		w.Leaders = append(w.Leaders, *m.Leader)
	case m.Reaped != 0 && w.Reaped == 0:
		w.Reaped = m.Reaped
	case m.Over:
		*w = Watch{Last: w.Last}
	}
}

// line is a message as the pipe carries it.
func (m message) line() ([]byte, error) {
	text, err := json.Marshal(m)
	return append(text, '\n'), err
}
