package launcher

import (
	"os"
	"time"
)

// output is a file that a rank writes itself: its growth is progress.
type output struct {
	path string
	size int64 // when it was last looked at
}

// newOutput is a file that a rank is about to write. It may hold earlier output.
func newOutput(path string, f *os.File) output {
	o := output{path: path}
	if info, err := f.Stat(); err == nil {
		o.size = info.Size()
	}
	return o
}

// seen is what a look at a file shows. The zero value is nothing: it could not be seen.
type seen struct {
	size int64
	ago  time.Duration // since it was changed, as far as its time tells
	ok   bool
}

// measure looks at files. It may take as long as the disk does.
func measure(paths []string) map[string]seen {
	found := make(map[string]seen, len(paths))
	for _, path := range paths {
		if info, err := os.Stat(path); err == nil {
			found[path] = seen{size: info.Size(), ago: time.Since(info.ModTime()), ok: true}
		}
	}
	return found
}

// grown is when the rank's own files have grown since the look before, as far as their
// times tell; false if they have not.
func (w *watched) grown(found map[string]seen, now time.Time) (at time.Time, any bool) {
	for i, o := range w.outputs {
		s := found[o.path]
		if !s.ok || s.size == o.size {
			continue
		}
		w.outputs[i].size = s.size
		// A clock that was set, or another machine's, tells nothing: then it was just now.
		ago := s.ago
		if ago < 0 || ago > now.Sub(w.looked) {
			ago = 0
		}
		if grew := now.Add(-ago); !any || grew.After(at) {
			at, any = grew, true
		}
	}
	return at, any
}

// files are what the ranks that are watched write themselves.
func (m *monitor) files() (paths []string) {
	for _, w := range m.watches {
		for _, o := range w.outputs {
			paths = append(paths, o.path)
		}
	}
	return paths
}

// ask looks at the ranks' files beside the monitor, which judges when the answer comes:
// the loop waits for the monitor, and neither may wait for a disk. While that does not
// answer nobody is judged, for who writes there waits as well.
func (m *monitor) ask() bool {
	paths := m.files()
	if len(paths) == 0 {
		return false
	}
	m.asking = true
	go func() { m.tell(news{found: m.measure(paths), at: time.Now()}) }()
	return true
}
