package rundir

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// maxRunSize bounds what is read of a run.json, in bytes: a full one has about 2 MiB,
// and at most 16 if its texts are all control characters.
const maxRunSize = 64 << 20

// FileError says that a run.json cannot be used as it is. It is left as it was found.
type FileError struct {
	File    string
	Problem error
}

func (e *FileError) Error() string {
	return fmt.Sprintf("cannot use %s: %v: nothing was changed; move it away, or give another directory", e.File, e.Problem)
}

func (e *FileError) Unwrap() error { return e.Problem }

// read returns a whole file of the directory.
func (d folder) read(name string, most int64) ([]byte, error) {
	f, err := d.open(name, unix.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readAll(f, most)
}

// readFile is for readers of a run, who may not be its owner.
func readFile(path string, most int64) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readAll(f, most)
}

func readAll(f *os.File, most int64) ([]byte, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("it is no regular file")
	}
	text, err := io.ReadAll(io.LimitReader(f, most+1))
	if int64(len(text)) > most {
		return nil, fmt.Errorf("it has more than %d bytes", most)
	}
	return text, err
}

// decodeRun reads a run.json, or says what is wrong with it. r is changed only if
// nothing is.
func decodeRun(text []byte, r *Run) error {
	var run Run
	if err := json.Unmarshal(text, &run); err != nil {
		return fmt.Errorf("it is no record of a run: %w", err)
	}
	if run.Schema != Schema {
		return fmt.Errorf("its schema is %d, and this program knows schema %d", run.Schema, Schema)
	}
	if err := run.check(); err != nil {
		return err
	}
	*r = run
	return nil
}

// check finds what would lead a reader astray.
func (r *Run) check() error {
	const most = 1 << 30 // so that they can be counted on
	if min(r.Node, r.Nodes, r.Invocation, r.Dropped) < 0 || max(r.Invocation, r.Dropped) > most {
		return errors.New("its counts are not counts")
	}
	for i, a := range r.Attempts {
		if !IsAttempt(a.Name) {
			return fmt.Errorf("attempt %d of its list has the name %q", i+1, a.Name)
		}
		for _, rank := range a.Ranks {
			if rank.Rank < 0 || rank.Local < 0 || rank.Pid < 0 {
				return fmt.Errorf("%s has a rank %d with local rank %d and pid %d", a.Name, rank.Rank, rank.Local, rank.Pid)
			}
		}
	}
	return nil
}
