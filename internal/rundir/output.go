package rundir

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"
)

// streamState is what an attempt remembers of a file that it opened.
type streamState struct {
	from    int64 // its size then: an earlier launcher's output
	rotated bool  // it was rotated since
}

// Output opens a rank's file to be the worker's own stdout or stderr: nothing stands
// between the two, and whatever happens to the launcher, output goes on. Every write
// goes to the end of the file. An existing file is continued. The caller closes it.
func (a *Attempt) Output(rank int, s Stream) (*os.File, error) {
	f, err := a.output(outputName(rank, s))
	if err != nil {
		return nil, fmt.Errorf("cannot open the output file of rank %d: %w", rank, err)
	}
	return f, nil
}

func (a *Attempt) output(name string) (f *os.File, err error) {
	err = a.use(func(dir folder) error {
		f, err = dir.openOrCreate(name, unix.O_WRONLY|unix.O_APPEND)
		return err
	})
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err != nil {
		f.Close()
		return nil, err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.streams[name] == nil {
		a.streams[name] = &streamState{from: info.Size()}
	}
	return f, nil
}

// OutputPath is where a rank's output goes; for messages and for the size, which tells
// its progress.
func (a *Attempt) OutputPath(rank int, s Stream) string {
	return filepath.Join(a.path, outputName(rank, s))
}

// rotatedName is a file that was rotated away so many times ago; 0: the current one.
func rotatedName(name string, age int) string {
	if age == 0 {
		return name
	}
	return name + "." + strconv.Itoa(age)
}
