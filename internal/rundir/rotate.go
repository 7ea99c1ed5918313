package rundir

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"sync"

	"golang.org/x/sys/unix"

	"lenslaunch/internal/logtime"
)

// rankLog is a rank's file that the launcher writes.
type rankLog struct {
	attempt *Attempt
	name    string
	max     int64 // size of a file
	keep    int   // how many full ones are kept

	mu    sync.Mutex
	file  *os.File        // nil: closed
	times *logtime.Writer // nil: it could not be opened
	size  int64
	limit int64 // where the file is full: max, or more if it could not be rotated there
	midst bool  // the file ends within a line
}

// Log opens a rank's file for a stream that goes through the launcher, which is noted to be so
// long by then in an index beside it: see package logtime. With maxSize, in bytes, it is
// rotated: when a line would not fit, the file becomes .1, the one that was .1 becomes .2,
// and so on; beyond keep the oldest goes. A file holds whole lines, also if several
// goroutines write them. Of a line that is written in pieces, and of one that is longer
// than the cap, the rest still goes to the same file, up to twice the cap. maxSize 0: no
// cap.
//
// Bytes are lost only to keep. A file that cannot be rotated grows, which
// Options.Warn is told. Write errors are the disk's; the count is right, so that the
// rest can be written later.
func (a *Attempt) Log(rank int, s Stream, maxSize int64, keep int) (io.WriteCloser, error) {
	if maxSize < 0 || keep < 0 {
		return nil, fmt.Errorf("cannot keep %d files of %d bytes", keep, maxSize)
	}
	if maxSize == 0 {
		maxSize = math.MaxInt64 / 4 // twice the cap is a number as well
	}
	r := &rankLog{attempt: a, name: outputName(rank, s), max: maxSize, limit: maxSize, keep: keep}
	if err := r.open(); err != nil {
		return nil, fmt.Errorf("cannot open the output file of rank %d: %w", rank, err)
	}
	return r, nil
}

// open continues the file.
func (r *rankLog) open() error {
	f, err := r.attempt.output(r.name)
	if err != nil {
		return err
	}
	info, err := f.Stat()
	if err != nil {
		f.Close()
		return err
	}
	// Whether it ends within a line does not matter: nobody will write the rest.
	r.file, r.size = f, info.Size()
	r.times = r.openTimes()
	return nil
}

// openTimes continues the index of times. Without one the output is kept all the same.
func (r *rankLog) openTimes() *logtime.Writer {
	var times *logtime.Writer
	err := r.attempt.use(func(dir folder) error {
		f, err := dir.openOrCreate(r.name+logtime.Suffix, unix.O_RDWR|unix.O_APPEND)
		if err != nil {
			return err
		}
		if times, err = logtime.NewWriter(f, r.size); err != nil {
			f.Close()
		}
		return err
	})
	if err != nil {
		r.attempt.dir.failed(fmt.Errorf("cannot note the times of %s: %w", filepath.Join(r.attempt.path, r.name), err))
		return nil
	}
	return times
}

// Write appends whole pieces of p to as many files as it takes.
func (r *rankLog) Write(p []byte) (n int, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.file == nil {
		return 0, os.ErrClosed
	}
	for n < len(p) {
		piece := p[n:]
		fit := r.fit(piece)
		if fit == 0 {
			r.rotate()
			continue
		}
		m, err := r.attempt.dir.sys.write(r.file, piece[:fit])
		if m > 0 {
			n, r.size, r.midst = n+m, r.size+int64(m), piece[m-1] != '\n'
			r.noteTime(m)
		}
		if err != nil {
			return n, err
		}
	}
	return n, nil
}

func (r *rankLog) noteTime(grown int) {
	if r.times != nil {
		r.times.Note(grown)
	}
}

// fit is how much of p still goes into the file; 0: it is full. An empty file always
// takes something.
func (r *rankLog) fit(p []byte) int {
	room := int(max(0, min(r.limit-r.size, int64(len(p)))))
	if room == len(p) {
		return room
	}
	if end := bytes.LastIndexByte(p[:room], '\n'); end >= 0 {
		return end + 1
	}
	if !r.midst && r.size > 0 {
		return 0 // at the start of a line that does not fit
	}
	end := len(p)
	if i := bytes.IndexByte(p[room:], '\n'); i >= 0 {
		end = room + i + 1
	}
	return int(max(0, min(int64(end), r.limit+r.max-r.size)))
}

// rotate begins a new file. The new one is made first: a disk without room for it
// leaves everything as it is.
func (r *rankLog) rotate() {
	var fresh *os.File
	err := r.attempt.use(func(dir folder) (err error) {
		fresh, err = r.shift(dir)
		return err
	})
	if err != nil {
		r.limit = r.size + r.max
		r.attempt.dir.failed(fmt.Errorf("cannot rotate %s: %w", filepath.Join(r.attempt.path, r.name), err))
		return
	}
	r.file.Close()
	r.file, r.size, r.limit = fresh, 0, r.max
	r.attempt.mu.Lock()
	defer r.attempt.mu.Unlock()
	r.attempt.streams[r.name].rotated = true
}

func (r *rankLog) shift(dir folder) (*os.File, error) {
	temp := "." + r.name + ".new"
	if err := dir.remove(temp); err != nil { // of a crash
		return nil, err
	}
	fresh, err := dir.create(temp, unix.O_WRONLY|unix.O_APPEND)
	if err != nil {
		return nil, err
	}
	// From the oldest on, so that a crash leaves a gap in the numbers and loses nothing.
	for age := r.free(dir); age > 0 && err == nil; age-- {
		err = dir.rename(rotatedName(r.name, age-1), rotatedName(r.name, age))
		if errors.Is(err, unix.ENOENT) {
			err = nil // somebody removed it
		}
		r.attempt.dir.sys.step("shifted")
	}
	if err == nil {
		err = dir.rename(temp, r.name)
	}
	if err != nil {
		fresh.Close()
		_ = dir.remove(temp)
		return nil, err
	}
	return fresh, nil
}

// free is the first number that no file has: those below move up by one. If all are
// taken, it is the last one.
func (r *rankLog) free(dir folder) int {
	for age := 1; age < r.keep; age++ {
		if !dir.exists(rotatedName(r.name, age)) {
			return age
		}
	}
	return r.keep
}

// Close closes the file. It may be called more than once.
func (r *rankLog) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.file == nil {
		return nil
	}
	err := r.file.Close()
	if r.times != nil {
		_ = r.times.Close()
	}
	r.file = nil
	return err
}
