package rundir

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// maxTail bounds what is read from the end of a stream, in bytes.
const maxTail = 64 << 10

// Tail returns the last lines of what this attempt wrote to a rank's stream, as they
// are: make them printable before showing them. A rank that wrote nothing has none.
func (a *Attempt) Tail(rank int, s Stream, lines int) ([]string, error) {
	name := outputName(rank, s)
	a.mu.Lock()
	state := streamState{}
	if known := a.streams[name]; known != nil {
		state = *known
	}
	a.mu.Unlock()
	var text []byte
	for age := 0; bytes.Count(text, []byte("\n")) <= lines && len(text) < maxTail; age++ {
		from := state.from
		if state.rotated {
			from = 0
		}
		part, err := a.end(rotatedName(name, age), from, int64(maxTail-len(text)))
		if errors.Is(err, unix.ENOENT) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("cannot read the output of rank %d: %w", rank, err)
		}
		text = append(part, text...)
		if !state.rotated {
			break // what has been rotated away is an earlier launcher's
		}
	}
	return lastLines(text, lines), nil
}

// end reads the end of a file, but nothing before from.
func (a *Attempt) end(name string, from, size int64) ([]byte, error) {
	var f *os.File
	err := a.use(func(dir folder) (err error) {
		f, err = dir.open(name, unix.O_RDONLY)
		return err
	})
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	from = max(from, info.Size()-size)
	return io.ReadAll(io.NewSectionReader(f, from, max(0, info.Size()-from)))
}

// lastLines splits a text that may begin within a line.
func lastLines(text []byte, most int) []string {
	lines := bytes.Split(bytes.TrimSuffix(text, []byte("\n")), []byte("\n"))
	if len(text) == 0 {
		return nil
	}
	if len(text) >= maxTail && len(lines) > 1 {
		lines = lines[1:]
	}
	var out []string
	for _, line := range lines[max(0, len(lines)-most):] {
		out = append(out, string(line))
	}
	return out
}
