//go:build output

package output

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A reader that goes away (`| head`) costs its lines and one warning: the job goes on.
func TestReaderThatGoesAway(t *testing.T) {
	w, r := openPipe(t)
	running := job{work: work{Kind: lineKind, Bytes: 1_000_000}}.start(t, w)
	if _, err := io.ReadFull(r, make([]byte, 100_000)); err != nil {
		t.Fatal(err)
	}
	r.(*os.File).Close()
	running.wait(0)
	running.said(1, "broken pipe")
}

// With files each of them is whole all the same.
func TestFilesOfAReaderThatGoesAway(t *testing.T) {
	w, r := openPipe(t)
	j := job{work: work{Kind: blockKind, Bytes: 1_000_000}, dir: t.TempDir()}
	running := j.start(t, w)
	if _, err := io.ReadFull(r, make([]byte, 100_000)); err != nil {
		t.Fatal(err)
	}
	r.(*os.File).Close()
	running.wait(0)
	running.said(1, "broken pipe")
	checkFiles(t, j.dir, func(rank int) []byte { return lines(rank, 1_000_000) })
}

// said fails the test unless the launcher said so many lines, one of them with the text.
func (r *running) said(lines int, text string) {
	r.t.Helper()
	said := r.stderr.String()
	if strings.Count(said, "\n") != lines || strings.Count(said, text) != 1 {
		r.t.Errorf("on stderr, want %d lines and once %q:\n%s", lines, text, said)
	}
}

// checkFiles compares what the run directory has of each rank's stdout in its first
// attempt.
func checkFiles(t *testing.T, dir string, want func(rank int) []byte) {
	t.Helper()
	for rank := range ranks {
		if got, want := stream(t, dir, 0, rank), want(rank); !bytes.Equal(got, want) {
			t.Errorf("rank %d: %d bytes in its file are not the %d that it wrote", rank, len(got), len(want))
		}
	}
}

// stream is what a run directory has of a rank's stdout in an attempt, with what was
// rotated away.
func stream(t *testing.T, dir string, attempt, rank int) []byte {
	t.Helper()
	name := filepath.Join(dir, fmt.Sprintf("attempt-%d", attempt), fmt.Sprintf("rank-%d.out", rank))
	text, err := os.ReadFile(name)
	if err != nil {
		t.Error(err)
		return nil
	}
	for age := 1; ; age++ {
		older, err := os.ReadFile(fmt.Sprintf("%s.%d", name, age))
		if errors.Is(err, fs.ErrNotExist) {
			return text
		}
		if err != nil {
			t.Fatal(err)
		}
		text = append(older, text...)
	}
}

// A disk that is full costs the files, with one message, and nothing of the console.
func TestFullDisk(t *testing.T) {
	w, r := openPipe(t)
	j := job{work: work{Kind: blockKind, Bytes: 1_000_000}, dir: t.TempDir(), limit: 512}
	running := j.start(t, w)
	if err := countLines(r, 1_000_000/lineLength); err != nil {
		t.Error(err)
	}
	running.wait(0)
	running.said(1, "file too large")
	for rank := range ranks {
		if got := stream(t, j.dir, 0, rank); !bytes.HasPrefix(lines(rank, 1_000_000), got) {
			t.Errorf("rank %d: its file is not the beginning of what it wrote", rank)
		}
	}
}

// It costs no restart either: neither the record nor the ledger has room, and the second
// attempt is another one than the first.
func TestFullDiskAndARestart(t *testing.T) {
	w, r := openPipe(t)
	j := job{
		work: work{Kind: lineKind, Bytes: 1000, Fails: true}, dir: t.TempDir(), few: 1, limit: 1,
		flags: []string{"--max-restarts", "1", "--restart-delay", "1ms"},
	}
	running := j.start(t, w)
	console := <-collect(r)
	running.wait(0)
	if said := running.stderr.String(); strings.Count(said, "file too large") != 1 || strings.Count(said, "warning") != 1 {
		t.Errorf("told not once of the disk:\n%s", said)
	}
	first, second := []byte("attempt 0 "), []byte("attempt 1 ")
	if bytes.Count(console.text, first) != 1 || bytes.Count(console.text, second) != 1 {
		t.Errorf("the console has not both attempts:\n%s", console.text)
	}
}
