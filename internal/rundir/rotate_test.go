package rundir

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"lenslaunch/internal/logtime"
)

func mustRotate(t *testing.T, a *Attempt, size int64, keep int) io.WriteCloser {
	t.Helper()
	w, err := a.Log(0, Out, size, keep)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.Close() })
	return w
}

// contents of the files of rank 0's stdout, oldest first.
func contents(t *testing.T, a *Attempt) []string {
	t.Helper()
	files, err := OutputFiles(a.dir.Path(), a.Name(), 0, Out)
	if err != nil {
		t.Fatal(err)
	}
	list := []string{}
	for _, f := range files {
		list = append(list, content(t, f))
	}
	return list
}

func TestRotation(t *testing.T) {
	tests := []struct {
		name   string
		size   int64
		keep   int
		writes []string
		want   []string
	}{
		{"nothing", 4, 2, nil, []string{""}},
		{"fits", 4, 2, []string{"abc\n"}, []string{"abc\n"}},
		{"two files", 4, 2, []string{"abc\n", "d\n"}, []string{"abc\n", "d\n"}},
		{"in one write", 4, 9, []string{"a\nb\nc\nd\ne\n"}, []string{"a\nb\n", "c\nd\n", "e\n"}},
		{"a line that does not fit", 6, 9, []string{"abc\n", "def\n"}, []string{"abc\n", "def\n"}},
		{"oldest goes", 2, 2, []string{"a\n", "b\n", "c\n", "d\n"}, []string{"b\n", "c\n", "d\n"}},
		{"none is kept", 2, 0, []string{"a\n", "b\n", "c\n"}, []string{"c\n"}},
		{"a line in pieces stays together", 4, 9, []string{"abc", "def", "\n", "g\n"}, []string{"abcdef\n", "g\n"}},
		{"a long line in an empty file", 4, 9, []string{"abcdef\ng\n"}, []string{"abcdef\n", "g\n"}},
		{"a longer one is cut", 4, 9, []string{"abcdefghijk\n"}, []string{"abcdefgh", "ijk\n"}},
		{"cut in pieces", 2, 9, []string{"abc", "def", "ghi"}, []string{"abcd", "efgh", "i"}},
		{"after a long one", 4, 9, []string{"ab\n", "cdefgh\n", "i\n"}, []string{"ab\n", "cdefgh\n", "i\n"}},
		{"empty lines", 2, 9, []string{"\n\n\n\n\n"}, []string{"\n\n", "\n\n", "\n"}},
		{"one byte", 1, 9, []string{"a\n\n"}, []string{"a\n", "\n"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a := mustBegin(t, newDir(t), BeginInfo{})
			w := mustRotate(t, a, tt.size, tt.keep)
			for _, text := range tt.writes {
				if n, err := w.Write([]byte(text)); n != len(text) || err != nil {
					t.Fatalf("%d, %v", n, err)
				}
			}
			wantEqual(t, "files", contents(t, a), tt.want)
			for _, name := range entries(t, a.Path()) {
				wantEqual(t, "mode of "+name, mode(t, a.Path()+"/"+name), os.FileMode(0o600))
			}
		})
	}
}

// Whatever is written in whatever pieces: all of it is there, in order, and only lines
// that are longer than a file are cut.
func TestRotationLosesNothing(t *testing.T) {
	for seed := range uint64(12) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		a := mustBegin(t, newDir(t), BeginInfo{})
		size := 16 + rnd.Int64N(200)
		w := mustRotate(t, a, size, 1<<20)
		var want []byte
		for range 40 {
			piece := make([]byte, rnd.IntN(150))
			for i := range piece {
				if piece[i] = byte('a' + rnd.IntN(26)); rnd.IntN(20) == 0 {
					piece[i] = '\n'
				}
			}
			if _, err := w.Write(piece); err != nil {
				t.Fatal(err)
			}
			want = append(want, piece...)
		}
		files := contents(t, a)
		if got := strings.Join(files, ""); got != string(want) {
			t.Fatalf("seed %d: %d bytes of %d", seed, len(got), len(want))
		}
		longest := int64(0)
		for line := range bytes.Lines(want) {
			longest = max(longest, int64(len(line)))
		}
		for i, text := range files[:len(files)-1] {
			if int64(len(text)) > 2*size {
				t.Errorf("seed %d: file %d has %d bytes, the cap is %d", seed, i, len(text), size)
			}
			if longest <= size && !strings.HasSuffix(text, "\n") {
				t.Errorf("seed %d: file %d ends within a line", seed, i)
			}
		}
	}
}

// Several goroutines write whole lines: none is lost, none is cut, each one's are in order.
func TestRotationFromManyGoroutines(t *testing.T) {
	const writers, lines, size = 8, 300, 4096
	a := mustBegin(t, newDir(t), BeginInfo{})
	w := mustRotate(t, a, size, 1<<20)
	var wg sync.WaitGroup
	for g := range writers {
		wg.Go(func() {
			rnd := rand.New(rand.NewPCG(uint64(g), 2))
			for i := range lines {
				if _, err := fmt.Fprintf(w, "%d %d %s.\n", g, i, strings.Repeat("x", rnd.IntN(200))); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	next := map[int]int{}
	files := contents(t, a)
	for _, text := range files {
		if len(text) > size || !strings.HasSuffix(text, ".\n") {
			t.Errorf("a file has %d bytes and ends with %.20q", len(text), text[max(0, len(text)-20):])
		}
		for line := range strings.Lines(text) {
			var g, i int
			if _, err := fmt.Sscanf(line, "%d %d ", &g, &i); err != nil || i != next[g] || !strings.HasSuffix(line, ".\n") {
				t.Fatalf("the line %q comes after %d: %v", line, next[g], err)
			}
			next[g]++
		}
	}
	for g := range writers {
		wantEqual(t, "lines", next[g], lines)
	}
	if len(files) < 50 {
		t.Errorf("only %d files", len(files))
	}
}

// The next launcher goes on where the last one was killed.
func TestRotationContinues(t *testing.T) {
	d := newDir(t)
	a := mustBegin(t, d, BeginInfo{})
	for _, text := range []string{"a\n", "b\n", "c\n"} {
		w := mustRotate(t, a, 4, 3)
		if _, err := w.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
		_ = w.Close()
		// A crash while the next file was made.
		mustWrite(t, a.Path()+"/.rank-0.out.new", "left")
	}
	wantEqual(t, "files", contents(t, a), []string{"a\nb\n", "c\n"})
	wantEqual(t, "names", entries(t, a.Path()), []string{".rank-0.out.new", "rank-0.out", "rank-0.out.1", "rank-0.out.times"})
}

// A crash between the renames leaves a gap in the numbers; it fills up again.
func TestRotationWithAGap(t *testing.T) {
	a := mustBegin(t, newDir(t), BeginInfo{})
	mustWrite(t, a.Path()+"/rank-0.out.2", "a\n")
	mustWrite(t, a.Path()+"/rank-0.out", "b\n")
	w := mustRotate(t, a, 2, 4)
	for _, text := range []string{"c\n", "d\n"} {
		if _, err := w.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	wantEqual(t, "files", contents(t, a), []string{"a\n", "b\n", "c\n", "d\n"})
}

// A file that cannot be rotated grows, and that is told once.
func TestRotationThatFails(t *testing.T) {
	var w warnings
	o := testOptions(t, t.TempDir())
	o.Warn = w.add
	d := mustOpen(t, o)
	a := mustBegin(t, d, BeginInfo{})
	mustMkdir(t, a.Path()+"/.rank-0.out.new") // in the way
	out := mustRotate(t, a, 4, 2)
	for range 10 {
		if n, err := out.Write([]byte("abc\n")); n != 4 || err != nil {
			t.Fatal(n, err)
		}
	}
	wantEqual(t, "files", contents(t, a), []string{strings.Repeat("abc\n", 10)})
	if list := w.all(); len(list) != 1 {
		t.Errorf("warned %d times: %v", len(list), list)
	} else {
		wantError(t, list[0], "cannot rotate "+a.OutputPath(0, Out))
	}
	if err := os.Remove(a.Path() + "/.rank-0.out.new"); err != nil {
		t.Fatal(err)
	}
	if _, err := out.Write([]byte("d\nefghi\n")); err != nil {
		t.Fatal(err)
	}
	wantEqual(t, "files", contents(t, a), []string{strings.Repeat("abc\n", 10), "d\n", "efghi\n"})
}

// A rename that fails half way loses nothing either.
func TestRotationThatFailsHalfWay(t *testing.T) {
	for in, name := range map[string]string{"the oldest": "rank-0.out.2", "the first": "rank-0.out.1"} {
		t.Run(in, func(t *testing.T) {
			o := testOptions(t, t.TempDir())
			o.Warn = func(error) {}
			a := mustBegin(t, mustOpen(t, o), BeginInfo{})
			mustMkdir(t, a.Path()+"/"+name+"/x") // a full directory cannot be replaced
			out := mustRotate(t, a, 2, 2)
			for _, text := range []string{"a\n", "b\n", "c\n", "d\n"} {
				if _, err := out.Write([]byte(text)); err != nil {
					t.Fatal(err)
				}
			}
			got := strings.Join(contents(t, a), "")
			if got != "a\nb\nc\nd\n" {
				t.Errorf("it is %q", got)
			}
		})
	}
}

// The count is right when the disk is full, so the rest can be written later.
func TestRotationOnAFullDisk(t *testing.T) {
	disk := &shortDisk{room: 100000, full: unix.ENOSPC}
	sys := realSystem()
	sys.write = disk.write
	a := mustBegin(t, mustOpenWith(t, testOptions(t, t.TempDir()), sys), BeginInfo{})
	out := mustRotate(t, a, 10, 9)
	text := []byte("one\ntwo\nthree\nfour\nfive\n")
	disk.set(16)
	n, err := out.Write(text)
	if n != 16 || !errors.Is(err, unix.ENOSPC) {
		t.Errorf("%d, %v", n, err)
	}
	disk.set(100)
	if m, err := out.Write(text[n:]); m != len(text)-n || err != nil {
		t.Errorf("%d, %v", m, err)
	}
	wantEqual(t, "text", strings.Join(contents(t, a), ""), string(text))
}

// Its user removes the file while it is written.
func TestRotationOfARemovedFile(t *testing.T) {
	a := mustBegin(t, newDir(t), BeginInfo{})
	out := mustRotate(t, a, 2, 2)
	for _, text := range []string{"a\n", "b\n"} {
		if _, err := out.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
		if err := os.Remove(a.OutputPath(0, Out)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := out.Write([]byte("c\n")); err != nil {
		t.Fatal(err)
	}
	wantEqual(t, "files", contents(t, a), []string{"c\n"})
}

// What goes through the launcher has times, over rotation and over launchers.
func TestLogNotesTimes(t *testing.T) {
	a := mustBegin(t, newDir(t), BeginInfo{})
	for _, tt := range []struct {
		cap   int64
		files []string
	}{
		{2, []string{"a\n", "b\n"}},
		{0, []string{"a\n", "b\na\nb\n"}},
	} {
		w := mustRotate(t, a, tt.cap, 5)
		for _, text := range []string{"a\n", "b\n"} {
			if _, err := w.Write([]byte(text)); err != nil {
				t.Fatal(err)
			}
		}
		_ = w.Close()
		wantEqual(t, "files", contents(t, a), tt.files)
	}
	f, err := os.Open(a.OutputPath(0, Out) + logtime.Suffix)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var last logtime.Entry
	r := logtime.NewReader(f)
	for e, err := r.Next(); err == nil; e, err = r.Next() {
		last = e
	}
	if last.End != 8 || time.Since(last.At) > time.Hour {
		t.Errorf("the last entry is %+v", last)
	}
}

// Without a place for times the output is kept, and that is told.
func TestLogWithoutTimes(t *testing.T) {
	var w warnings
	o := testOptions(t, t.TempDir())
	o.Warn = w.add
	a := mustBegin(t, mustOpen(t, o), BeginInfo{})
	mustMkdir(t, a.OutputPath(0, Out)+logtime.Suffix)
	out := mustRotate(t, a, 0, 0)
	if _, err := out.Write([]byte("a\n")); err != nil {
		t.Fatal(err)
	}
	_ = out.Close()
	wantEqual(t, "files", contents(t, a), []string{"a\n"})
	if list := w.all(); len(list) != 1 {
		t.Errorf("warned %d times: %v", len(list), list)
	} else {
		wantError(t, list[0], "cannot note the times of "+a.OutputPath(0, Out))
	}
}

func TestLogRefuses(t *testing.T) {
	a := mustBegin(t, newDir(t), BeginInfo{})
	for _, bad := range []struct {
		size int64
		keep int
	}{{-1, 1}, {1, -1}} {
		if _, err := a.Log(0, Out, bad.size, bad.keep); err == nil {
			t.Errorf("%+v was taken", bad)
		}
	}
	w := mustRotate(t, a, 10, 1)
	if err := errors.Join(w.Close(), w.Close()); err != nil {
		t.Error(err)
	}
	if _, err := w.Write([]byte("x")); !errors.Is(err, os.ErrClosed) {
		t.Errorf("the error is %v", err)
	}
	mustMkdir(t, a.OutputPath(1, Out))
	_, err := a.Log(1, Out, 10, 1)
	wantError(t, err, "cannot open the output file of rank 1")
}
