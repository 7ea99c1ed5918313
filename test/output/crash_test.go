//go:build output

package output

import (
	"bytes"
	"fmt"
	"io"
	"testing"
	"time"
)

// A rank that writes 10 MB and dies by SIGKILL at once: all that reached the pipe, which
// is all, is on the console.
func TestCrashTail(t *testing.T) {
	const size = 10_000_000
	w, r := openPipe(t)
	checked := make(chan error, 1)
	go func() {
		text, err := io.ReadAll(r)
		if err == nil {
			_, err = rejoinAll(text, size)
		}
		checked <- err
	}()
	j := job{work: work{Kind: blockKind, Bytes: size, Die: true}}
	j.start(t, w).wait(137)
	if err := <-checked; err != nil {
		t.Error(err)
	}
}

// rejoinAll checks that at least one rank, the one that died first, has all its lines;
// the launcher ends the others where they are.
func rejoinAll(console []byte, size int) (whole int, err error) {
	text, err := rejoin(console)
	if err != nil {
		return 0, err
	}
	for rank := range ranks {
		want := lines(rank, size)
		if bytes.Equal(text[rank], want) {
			whole++
		} else if !bytes.HasPrefix(want, bytes.TrimSuffix(text[rank], []byte{'\n'})) {
			return whole, fmt.Errorf("rank %d: what it wrote was altered", rank)
		}
	}
	if whole == 0 {
		return 0, fmt.Errorf("no rank has all of its lines")
	}
	return whole, nil
}

// The same with files, for every rank.
func TestCrashTailInFiles(t *testing.T) {
	const size = 10_000_000
	w, r := openPipe(t)
	dir := t.TempDir()
	j := job{work: work{Kind: blockKind, Bytes: size, Die: true}, mux: &mux{Ranks: ranks, Dir: dir, Holds: time.Minute}}
	running := j.start(t, w)
	console := <-collect(r)
	running.wait(1)
	text, err := rejoin(console.text)
	if err != nil {
		t.Fatal(err)
	}
	for rank := range ranks {
		if err := same(text[rank], lines(rank, size)); err != nil {
			t.Errorf("rank %d on the console: %v", rank, err)
		}
	}
	checkFiles(t, dir, func(rank int) []byte { return lines(rank, size) })
}
