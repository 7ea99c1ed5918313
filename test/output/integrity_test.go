//go:build output

package output

import (
	"bytes"
	"fmt"
	"io"
	"testing"
	"unicode/utf8"
)

// mostMemory is what the launcher may have at its peak, whatever is written and however
// slowly it is read, in bytes. Measured: 17 to 20 MiB.
const mostMemory = 32 << 20

// 8 ranks write 400,000 lines of 100 bytes each, 320 MB in all.
func TestManyLines(t *testing.T) {
	const each = 400_000
	for kind, name := range map[int]string{lineKind: "a write for each line", blockKind: "blocks of 4 KiB"} {
		for _, c := range consoles[:2] {
			t.Run(name+" to "+c.name, func(t *testing.T) {
				w, r := c.open(t)
				j := job{work: work{Kind: kind, Bytes: each * lineLength}}
				running := j.start(t, w)
				checked := make(chan error, 1)
				if !c.atEnd {
					go func() { checked <- countLines(r, each) }()
				}
				peak := running.wait(0)
				if c.atEnd {
					checked <- countLines(r, each)
				}
				if err := <-checked; err != nil {
					t.Error(err)
				}
				t.Logf("%d MiB at the most", peak>>20)
				if peak > mostMemory {
					t.Errorf("the launcher had %d bytes, at most %d", peak, mostMemory)
				}
			})
		}
	}
}

// Each other way to write, to each console, 8 MB in all.
func TestIntegrity(t *testing.T) {
	for i, k := range kinds {
		for _, c := range consoles {
			t.Run(k.name+" to "+c.name, func(t *testing.T) {
				t.Parallel()
				j := job{work: work{Kind: i, Bytes: 1_000_000}, flags: k.flags()}
				text := j.run(t, c)
				for rank := range ranks {
					if err := same(text[rank], k.text(rank, j.Bytes)); err != nil {
						t.Errorf("rank %d: %v", rank, err)
					}
				}
			})
		}
	}
}

// A file beside the console has every byte of every kind, and the console lacks nothing.
func TestFilesOfEveryKind(t *testing.T) {
	for i, k := range kinds {
		t.Run(k.name, func(t *testing.T) {
			t.Parallel()
			j := job{work: work{Kind: i, Bytes: 1_000_000}, dir: t.TempDir(), flags: k.flags()}
			text := j.run(t, consoles[1]) // which no rank waits for
			for rank := range ranks {
				if err := same(text[rank], k.text(rank, j.Bytes)); err != nil {
					t.Errorf("rank %d on the console: %v", rank, err)
				}
			}
			checkFiles(t, j.dir, func(rank int) []byte { return k.text(rank, j.Bytes) })
		})
	}
}

// 8 ranks write 320 MB to files, which they have themselves or get by the launcher, with
// and without a console and a cap.
func TestManyLinesInFiles(t *testing.T) {
	const each = 400_000
	tests := []struct {
		name  string
		flags []string
	}{
		{"by themselves", []string{"--tee", "none"}},
		{"and on the console", nil},
		{"rotated", []string{"--tee", "none", "--log-max-size", "1MiB", "--log-keep", "1000"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w, r := openFile(t)
			j := job{work: work{Kind: blockKind, Bytes: each * lineLength}, dir: t.TempDir(), flags: tt.flags}
			peak := j.start(t, w).wait(0)
			t.Logf("%d MiB at the most", peak>>20)
			if peak > mostMemory {
				t.Errorf("the launcher had %d bytes, at most %d", peak, mostMemory)
			}
			if tt.flags == nil {
				if err := countLines(r, each); err != nil {
					t.Errorf("the console: %v", err)
				}
			} else if n, err := io.Copy(io.Discard, r); n != 0 || err != nil {
				t.Errorf("%d bytes on the console, %v", n, err)
			}
			checkFiles(t, j.dir, func(rank int) []byte { return lines(rank, each*lineLength) })
		})
	}
}

// run runs a job to its end and returns what each rank's text became.
func (j job) run(t *testing.T, c console) [ranks][]byte {
	t.Helper()
	w, r := c.open(t)
	running := j.start(t, w)
	var got <-chan result
	if !c.atEnd {
		got = collect(r)
	}
	peak := running.wait(0)
	t.Logf("%d MiB at the most", peak>>20)
	if peak > mostMemory {
		t.Errorf("the launcher had %d bytes, at most %d", peak, mostMemory)
	}
	if c.atEnd {
		got = collect(r)
	}
	console := <-got
	if console.err != nil {
		t.Fatal(console.err)
	}
	text, err := rejoin(console.text)
	if err != nil {
		t.Fatal(err)
	}
	if kinds[j.Kind].name == "UTF-8 cut across writes" && !utf8.Valid(console.text) {
		t.Error("a character was cut")
	}
	return text
}

// same says where two texts differ. The console closes a last line that has no end.
func same(got, want []byte) error {
	if len(want) > 0 && !bytes.HasSuffix(want, []byte{'\n'}) {
		want = append(bytes.Clone(want), '\n')
	}
	for i := range min(len(got), len(want)) {
		if got[i] != want[i] {
			return fmt.Errorf("byte %d is %q, want %q", i, got[i:min(i+40, len(got))], want[i:min(i+40, len(want))])
		}
	}
	if len(got) != len(want) {
		return fmt.Errorf("%d bytes of %d", len(got), len(want))
	}
	return nil
}
