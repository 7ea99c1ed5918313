package runview

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"

	"lenslaunch/internal/rundir"
)

// source names one stream of a rank.
type source struct {
	rank   int
	stream rundir.Stream
}

// compare orders the sources of one time: by rank, stdout first.
func (s source) compare(other source) int {
	return cmp.Or(cmp.Compare(s.rank, other.rank), cmp.Compare(other.stream, s.stream))
}

// file is the name of the source's current file.
func (s source) file() string { return fmt.Sprintf("rank-%d.%s", s.rank, s.stream) }

// outputName matches the files of ranks; those that were rotated away have a number.
var outputName = regexp.MustCompile(`^rank-([0-9]{1,9})\.(out|err)(?:\.([0-9]{1,9}))?$`)

// sources lists whose output lies in an attempt's directory, with the files of each,
// oldest first. One look for all: there may be a thousand of them.
func sources(dir string) (map[source][]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("cannot list output: %w", err)
	}
	ages := map[string]int{}
	found := map[source][]string{}
	for _, e := range entries {
		m := outputName.FindStringSubmatch(e.Name())
		if m == nil || !e.Type().IsRegular() {
			continue // a link may lead anywhere
		}
		rank, _ := strconv.Atoi(m[1])
		age, _ := strconv.Atoi(m[3]) // none: the current file, age 0
		s, path := source{rank, rundir.Stream(m[2])}, filepath.Join(dir, e.Name())
		ages[path] = age
		found[s] = append(found[s], path)
	}
	for _, paths := range found {
		slices.SortFunc(paths, func(a, b string) int { return cmp.Compare(ages[b], ages[a]) })
	}
	return found, nil
}

// chain reads the files of one source as one, also while they are written and
// rotated.
type chain struct {
	dir  string
	from source

	f    *os.File // being read, nil: none yet
	info os.FileInfo
	done bool // f was rotated away: nothing is written to it any more
}

// Read is io.EOF at the present end; later calls go on.
func (c *chain) Read(p []byte) (int, error) {
	for {
		if c.f == nil {
			if err := c.open(0); err != nil || c.f == nil {
				return 0, orEOF(err)
			}
		}
		n, err := c.f.Read(p)
		if n > 0 || err != io.EOF {
			return n, err
		}
		if c.done {
			// The end of a file that is whole.
			if err := c.next(); err != nil {
				return 0, err
			}
			continue
		}
		if current, err := os.Stat(filepath.Join(c.dir, c.from.file())); err == nil && os.SameFile(current, c.info) {
			return 0, io.EOF
		}
		// It was rotated since; what was written between end and rotation comes first.
		c.done = true
	}
}

func orEOF(err error) error {
	if err == nil {
		return io.EOF
	}
	return err
}

// open opens the file at a place in the chain, oldest first; none is no error.
func (c *chain) open(place int) error {
	all, err := sources(c.dir)
	if err != nil || place >= len(all[c.from]) {
		return err
	}
	f, err := os.Open(all[c.from][place])
	if err != nil {
		return fmt.Errorf("cannot read output: %w", err)
	}
	info, err := f.Stat()
	if err != nil {
		f.Close()
		return fmt.Errorf("cannot read output: %w", err)
	}
	c.close()
	c.f, c.info, c.done = f, info, false
	return nil
}

// next goes on with the file behind the one that is read. If that is gone, so are
// those before what is the oldest now.
func (c *chain) next() error {
	all, err := sources(c.dir)
	if err != nil {
		return err
	}
	place := slices.IndexFunc(all[c.from], func(path string) bool {
		info, err := os.Stat(path)
		return err == nil && os.SameFile(info, c.info)
	})
	old := c.f
	if err := c.open(place + 1); err != nil {
		return err
	}
	if c.f == old {
		return io.EOF // no file behind it yet
	}
	return nil
}

func (c *chain) close() {
	if c.f != nil {
		c.f.Close()
		c.f = nil
	}
}
