//go:build output

package output

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
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
	if n := strings.Count(running.stderr.String(), "\n"); n != 1 || !strings.Contains(running.stderr.String(), "broken pipe") {
		t.Errorf("%d lines on stderr: %s", n, running.stderr)
	}
}

// With files each of them is whole all the same.
func TestFilesOfAReaderThatGoesAway(t *testing.T) {
	w, r := openPipe(t)
	dir := t.TempDir()
	running := job{work: work{Kind: blockKind, Bytes: 1_000_000}, mux: &mux{Ranks: ranks, Dir: dir, Holds: 5 * time.Second}}.start(t, w)
	if _, err := io.ReadFull(r, make([]byte, 100_000)); err != nil {
		t.Fatal(err)
	}
	r.(*os.File).Close()
	running.wait(0)
	checkFiles(t, dir, func(rank int) []byte { return lines(rank, 1_000_000) })
}

func checkFiles(t *testing.T, dir string, want func(rank int) []byte) {
	t.Helper()
	for rank := range ranks {
		got, err := os.ReadFile(filepath.Join(dir, strconv.Itoa(rank)))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want(rank)) {
			t.Errorf("rank %d: %d bytes in its file are not the %d that it wrote", rank, len(got), len(want(rank)))
		}
	}
}

// A disk that is full costs the files, with one message each, and nothing of the console.
func TestFullDisk(t *testing.T) {
	w, r := openPipe(t)
	running := job{work: work{Kind: blockKind, Bytes: 1_000_000}, mux: &mux{Ranks: ranks, Dir: fullDisk, Holds: 5 * time.Second}}.start(t, w)
	if err := countLines(r, 1_000_000/lineLength); err != nil {
		t.Error(err)
	}
	running.wait(0)
	said := running.stderr.String()
	if n := strings.Count(said, "\n"); n != ranks || strings.Count(said, "no space left on device") != ranks {
		t.Errorf("%d lines on stderr: %s", n, said)
	}
}
