package rundir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// part is a place that has files of its own: DIR, or DIR/node-<k>.
type part struct {
	path string
	node int
}

// parts lists them in the order of nodes, DIR first.
func parts(dir string) ([]part, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	list := []part{{path: dir, node: -1}}
	for _, e := range entries {
		digits, ok := strings.CutPrefix(e.Name(), nodePrefix)
		node, err := strconv.Atoi(digits)
		if ok && err == nil && node >= 0 && digits == strconv.Itoa(node) && e.IsDir() {
			list = append(list, part{filepath.Join(dir, e.Name()), node})
		}
	}
	slices.SortFunc(list, func(a, b part) int { return a.node - b.node })
	return list, nil
}

// Read returns the run of a directory, merged from those of its nodes, with an outcome for
// every attempt: [OutcomeRunning] and [OutcomeUnknown] where none is recorded. Texts
// are as they were written: make them printable before showing them.
//
// If only some of the nodes' files are readable, the run is what they say and the
// error is about the others. With none there is no run.
func Read(dir string) (*Run, error) {
	list, err := parts(dir)
	if err != nil {
		return nil, fmt.Errorf("cannot read run directory: %w", err)
	}
	var runs []Run
	var problems []error
	for _, p := range list {
		file := filepath.Join(p.path, runName)
		var r Run
		text, err := readFile(file, maxRunSize)
		if err == nil {
			err = decodeRun(text, &r)
		}
		switch {
		case err == nil:
			runs = append(runs, r.view(lastBeat(p.path), time.Now()))
		case !errors.Is(err, fs.ErrNotExist):
			problems = append(problems, fmt.Errorf("cannot read %s: %w", file, err))
		}
	}
	if len(runs) == 0 && len(problems) == 0 {
		return nil, fmt.Errorf("cannot read run directory %s: it has no %s: %w", dir, runName, fs.ErrNotExist)
	}
	if len(runs) == 0 {
		return nil, errors.Join(problems...)
	}
	return merge(runs), errors.Join(problems...)
}

// lastBeat is when the launcher of a part last showed life, zero if that is not known.
func lastBeat(dir string) time.Time {
	var last time.Time
	for _, name := range []string{lockName, heldName} {
		if info, err := os.Lstat(filepath.Join(dir, name)); err == nil && info.ModTime().After(last) {
			last = info.ModTime()
		}
	}
	return last
}

// view fills in the outcomes that nobody recorded.
func (r Run) view(beat, now time.Time) Run {
	r.Seen = beat
	alive := r.Ended.IsZero() && r.alive(now)
	if r.Outcome == "" {
		r.Outcome = unrecorded(alive)
	}
	for i := range r.Attempts {
		a := &r.Attempts[i]
		if a.Outcome == "" {
			a.Outcome = unrecorded(alive && a.Invocation == r.Invocation)
		}
	}
	return r
}

func unrecorded(alive bool) string {
	if alive {
		return OutcomeRunning
	}
	return OutcomeUnknown
}

// alive reports whether the run's launcher still runs: its process says so, or, seen
// from elsewhere, its lock file.
func (r *Run) alive(now time.Time) bool {
	switch r.Launcher.State() {
	case OutcomeRunning:
		return true
	case OutcomeUnknown:
		return false
	}
	return now.Sub(r.Seen) < deadAfter
}
