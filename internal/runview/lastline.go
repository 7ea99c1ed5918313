package runview

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"lenslaunch/internal/rundir"
)

// lastPart is how much of the end of a file is searched for its last line, in bytes.
const lastPart = 4 << 10

// lastLines finds the last lines of ranks, and does not read files again that have not
// changed.
type lastLines struct {
	known map[string]lastLine // by path
}

type lastLine struct {
	size int64
	at   time.Time
	text string
}

// of is the last line that a rank wrote to either stream, clean and on one line; of a
// progress bar its last state. It is empty where there is none.
func (l *lastLines) of(dir string, rank int) string {
	var newest lastLine
	for _, stream := range []rundir.Stream{rundir.Out, rundir.Err} {
		path := filepath.Join(dir, source{rank, stream}.file())
		line, ok := l.file(path)
		if !ok {
			// Just rotated: nothing stands in the new file yet.
			line, ok = l.file(path + ".1")
		}
		if ok && !line.at.Before(newest.at) {
			newest = line
		}
	}
	return newest.text
}

func (l *lastLines) file(path string) (lastLine, bool) {
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() == 0 {
		return lastLine{}, false
	}
	line := l.known[path]
	if line.size == info.Size() && line.at.Equal(info.ModTime()) {
		return line, line.text != ""
	}
	line = lastLine{size: info.Size(), at: info.ModTime(), text: readLast(path, info.Size())}
	if l.known == nil {
		l.known = map[string]lastLine{}
	}
	l.known[path] = line
	return line, line.text != ""
}

// readLast is the last line of a file, or the last state of a progress bar on it.
func readLast(path string, size int64) string {
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	text, err := io.ReadAll(io.NewSectionReader(f, max(size-lastPart, 0), lastPart))
	if err != nil {
		return ""
	}
	for len(text) > 0 {
		i := bytes.LastIndexAny(text, "\r\n")
		if line := strings.TrimSpace(oneLine(string(text[i+1:]))); line != "" {
			return clip(line, 400)
		}
		text = text[:max(i, 0)]
	}
	return ""
}
