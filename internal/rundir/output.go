package rundir

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

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

// OutputFiles lists the files of one stream of a rank, those that were rotated away
// first, oldest first: one after the other they are the output as far as it was
// kept. None is no error.
func OutputFiles(dir, attempt string, rank int, s Stream) ([]string, error) {
	if !IsAttempt(attempt) {
		return nil, fmt.Errorf("cannot list output: %q is no name of an attempt", attempt)
	}
	return outputFiles(filepath.Join(dir, attempt), outputName(rank, s))
}

func outputFiles(dir, name string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("cannot list output: %w", err)
	}
	type file struct {
		path string
		age  int // 0: the current one
	}
	var files []file
	for _, e := range entries {
		if age, ok := rotatedAge(e.Name(), name); ok && e.Type().IsRegular() {
			files = append(files, file{filepath.Join(dir, e.Name()), age})
		}
	}
	slices.SortFunc(files, func(x, y file) int { return cmp.Compare(y.age, x.age) })
	paths := make([]string, 0, len(files))
	for _, f := range files {
		paths = append(paths, f.path)
	}
	return paths, nil
}

// rotatedAge is k in name.k, and 0 for the name itself.
func rotatedAge(file, name string) (age int, ok bool) {
	if file == name {
		return 0, true
	}
	digits, ok := strings.CutPrefix(file, name+".")
	if !ok || digits == "" || strings.Trim(digits, "0123456789") != "" {
		return 0, false
	}
	age, err := strconv.Atoi(digits)
	return age, err == nil && age > 0
}

// rotatedName is the opposite.
func rotatedName(name string, age int) string {
	if age == 0 {
		return name
	}
	return name + "." + strconv.Itoa(age)
}
