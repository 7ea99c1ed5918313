package ledger

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/google/uuid"
)

// The file says what it is, so that a file of another program is not misread.
const (
	formatName    = "lenslaunch-ledger"
	formatVersion = 1
)

// maxSize bounds what is read into memory: a full ledger has about 4 MiB.
const maxSize = 16 << 20

// header is the part that every version of the format has in common.
type header struct {
	Format  string `json:"format"`
	Version int    `json:"version"`
}

// document is the whole file.
type document struct {
	header
	Job      string    `json:"job"`
	Task     string    `json:"task,omitempty"`
	Dropped  *Dropped  `json:"dropped,omitempty"`
	Attempts []Attempt `json:"attempts"`
}

// encode writes one attempt per line: grep and tail are how people look at it.
func encode(n name, h History) ([]byte, error) {
	doc := document{header: header{formatName, formatVersion}, Job: n.job, Task: n.task, Attempts: []Attempt{}}
	if h.Dropped.Attempts > 0 {
		doc.Dropped = &h.Dropped
	}
	text, err := json.Marshal(doc)
	if err != nil {
		return nil, err
	}
	text = bytes.TrimSuffix(text, []byte("]}"))
	for i, a := range h.Attempts {
		line, err := json.Marshal(a)
		if err != nil {
			return nil, err
		}
		if i > 0 {
			text = append(text, ',')
		}
		text = append(append(text, '\n'), line...)
	}
	return append(text, "\n]}\n"...), nil
}

// decode reads a file that belongs to n, or says what is wrong with it.
func decode(n name, text []byte) (History, error) {
	if len(bytes.TrimSpace(text)) == 0 {
		return History{}, errors.New("it is empty")
	}
	var head header
	// This refuses whatever follows the end as well; the decoder below would not.
	if err := json.Unmarshal(text, &head); err != nil {
		return History{}, fmt.Errorf("it is not a ledger, or part of one: %w", err)
	}
	if head.Format != formatName {
		return History{}, fmt.Errorf("its format is %q, not %q", head.Format, formatName)
	}
	if head.Version != formatVersion {
		return History{}, fmt.Errorf("its version is %d, and this program knows version %d", head.Version, formatVersion)
	}
	var doc document
	strict := json.NewDecoder(bytes.NewReader(text))
	strict.DisallowUnknownFields() // what we do not know we would lose at the next write
	if err := strict.Decode(&doc); err != nil {
		return History{}, fmt.Errorf("it is not a ledger of version %d: %w", formatVersion, err)
	}
	if doc.Job != n.job || doc.Task != n.task {
		return History{}, fmt.Errorf("it belongs to job %q, task %q", doc.Job, doc.Task)
	}
	h := History{Attempts: doc.Attempts}
	if doc.Dropped != nil {
		h.Dropped = *doc.Dropped
	}
	return h, h.check()
}

// check finds what no ledger that was written here can hold. Counts that
// repeat would otherwise go on to name two attempts alike.
func (h History) check() error {
	var last *int64
	if d := h.Dropped; d.Attempts != 0 || d.RestartCount != nil || d.Executions != nil {
		last = d.RestartCount
		for _, c := range d.Executions {
			if c.Next < 1 {
				return fmt.Errorf("its count for execution %q is %d", c.Execution, c.Next)
			}
		}
		if d.Attempts < 1 || (last != nil && *last < 0) {
			return errors.New("its counts of dropped attempts are not counts")
		}
	}
	uuids := map[string]bool{}
	for i, a := range h.Attempts {
		if err := a.check(last); err != nil {
			return fmt.Errorf("attempt %d of its list: %w", i+1, err)
		}
		if uuids[a.UUID] {
			return fmt.Errorf("attempt %d of its list: its UUID %s is there twice", i+1, a.UUID)
		}
		uuids[a.UUID] = true
		if a.RestartCount != nil {
			last = a.RestartCount
		}
	}
	return nil
}

// check looks at one attempt, last being the restart count before it or nil.
func (a Attempt) check(last *int64) error {
	if a.Number < 0 || a.Number == math.MaxInt64 {
		return fmt.Errorf("its number is %d", a.Number)
	}
	if a.RestartCount != nil && *a.RestartCount < 0 {
		return fmt.Errorf("its restart count is %d", *a.RestartCount)
	}
	if a.RestartCount != nil && last != nil && *a.RestartCount <= *last {
		return fmt.Errorf("its restart count is %d, after %d", *a.RestartCount, *last)
	}
	if !isUUID(a.UUID) {
		return fmt.Errorf("its UUID is %q", a.UUID)
	}
	if a.Began.IsZero() {
		return errors.New("it has no begin")
	}
	if a.Ended.IsZero() != (a.Outcome == "") {
		return fmt.Errorf("its end is %s, its outcome %q", a.Ended.Format(time.RFC3339), a.Outcome)
	}
	return nil
}

// isUUID accepts the one spelling that is written here.
func isUUID(text string) bool {
	id, err := uuid.Parse(text)
	return err == nil && id.String() == text
}
