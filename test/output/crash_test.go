//go:build output

package output

import (
	"bytes"
	"fmt"
	"io"
	"testing"
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

// With files the same is in each of them, and what the console has of a rank is what its
// file has.
func TestCrashTailInFiles(t *testing.T) {
	const size = 10_000_000
	w, r := openFile(t)
	j := job{work: work{Kind: blockKind, Bytes: size, Die: true}, dir: t.TempDir()}
	j.start(t, w).wait(137)
	console, err := io.ReadAll(r)
	if err == nil {
		_, err = rejoinAll(console, size)
	}
	if err != nil {
		t.Fatal(err)
	}
	text, err := rejoin(console)
	if err != nil {
		t.Fatal(err)
	}
	for rank := range ranks {
		if err := same(text[rank], stream(t, j.dir, 0, rank)); err != nil {
			t.Errorf("rank %d: the console and the file differ: %v", rank, err)
		}
	}
}

// A rank that has its file itself loses nothing either.
func TestCrashTailInItsOwnFile(t *testing.T) {
	const size = 10_000_000
	w, _ := openPipe(t)
	j := job{work: work{Kind: blockKind, Bytes: size, Die: true}, dir: t.TempDir(), few: 1, flags: []string{"--tee", "none"}}
	j.start(t, w).wait(137)
	if !bytes.Equal(stream(t, j.dir, 0, 0), lines(0, size)) {
		t.Error("its file has not all of it")
	}
}
