package logtime

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// epoch is a round time, so that entries in these tests are easy to read.
func epoch() time.Time { return time.UnixMilli(1_700_000_000_000) }

// after is an entry so long after epoch.
func after(d time.Duration, end int64) Entry { return Entry{At: epoch().Add(d), End: end} }

// memory is an index in memory that may be made to fail.
type memory struct {
	bytes.Buffer
	sizes  []int // of each write
	fail   error
	closed bool
}

func (m *memory) Write(p []byte) (int, error) {
	if m.fail != nil {
		return 0, m.fail
	}
	m.sizes = append(m.sizes, len(p))
	return m.Buffer.Write(p)
}

func (m *memory) Close() error {
	m.closed = true
	return nil
}

// clock is a time that a test sets.
type clock struct{ at time.Time }

func (c *clock) now() time.Time { return c.at }

func entries(t *testing.T, r io.Reader) []Entry {
	t.Helper()
	var list []Entry
	for reader := NewReader(r); ; {
		e, err := reader.Next()
		if errors.Is(err, io.EOF) {
			return list
		}
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, e)
	}
}

// write is so many bytes, so long after epoch.
type write struct {
	after time.Duration
	bytes int
}

func TestWriterNotesTimes(t *testing.T) {
	const ms = time.Millisecond
	tests := []struct {
		name   string
		writes []write
		want   []Entry
	}{
		{"nothing", nil, nil},
		{"one", []write{{0, 10}}, []Entry{after(0, 10)}},
		{"apart", []write{{0, 10}, {Step, 5}, {2 * Step, 1}}, []Entry{after(0, 10), after(Step, 15), after(2*Step, 16)}},
		{"at once", []write{{0, 10}, {1 * ms, 5}, {2 * ms, 1}}, []Entry{after(0, 10), after(2*ms, 16)}},
		// What waits has the time at which it was written, not that of the next line an hour later.
		{"then silence", []write{{0, 10}, {5 * ms, 5}, {time.Hour, 1}}, []Entry{after(0, 10), after(5*ms, 15), after(time.Hour, 16)}},
		{"a long burst", []write{{0, 1}, {15 * ms, 1}, {30 * ms, 1}, {45 * ms, 1}}, []Entry{after(0, 1), after(30*ms, 3), after(45*ms, 4)}},
		{"a clock set back", []write{{time.Hour, 1}, {0, 2}}, []Entry{after(time.Hour, 1), after(time.Hour+ms, 3)}},
		{"empty writes", []write{{0, 0}, {Step, 3}, {2 * Step, 0}}, []Entry{after(Step, 3)}},
		{"a large one", []write{{0, 1 << 20}}, []Entry{after(0, 1<<20)}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			index, time := &memory{}, &clock{}
			w := newWriter(index, time.now, Entry{})
			for _, one := range tt.writes {
				time.at = epoch().Add(one.after)
				w.Note(one.bytes)
			}
			if err := w.Close(); err != nil || !index.closed {
				t.Errorf("error %v, closed %v", err, index.closed)
			}
			if diff := cmp.Diff(tt.want, entries(t, index)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// A log of 864 MB a day, in lines of 100 bytes, has an index of some percent.
func TestIndexIsSmall(t *testing.T) {
	index, time := &memory{}, &clock{at: epoch()}
	w := newWriter(index, time.now, Entry{})
	const lines, line = 10_000, 100
	for range lines {
		w.Note(line)
		time.at = time.at.Add(Step / 2)
	}
	if got := index.Len(); got > lines*line/50 {
		t.Errorf("%d bytes for %d of log", got, lines*line)
	}
	if longestWrite := slices.Max(index.sizes); longestWrite > longest {
		t.Errorf("an entry of %d bytes", longestWrite)
	}
}

// Two writes within a millisecond need an entry each: that must not add up.
func TestTimesDoNotDrift(t *testing.T) {
	index, time := &memory{}, &clock{at: epoch()}
	w := newWriter(index, time.now, Entry{})
	for range 1000 {
		w.Note(1)
		w.Note(1)
		time.at = time.at.Add(Step + Step/2)
	}
	w.Note(1)
	list := entries(t, index)
	if diff := cmp.Diff(Entry{At: time.at, End: 2001}, list[len(list)-1]); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A clock that was set back between two launchers does not end the index.
func TestWriterContinuesAfterAClockSetBack(t *testing.T) {
	index, time := &memory{}, &clock{at: epoch()}
	newWriter(index, time.now, Entry{}).Note(3)
	time.at = epoch().Add(-Step)
	newWriter(index, time.now, after(0, 3)).Note(2)
	if diff := cmp.Diff([]Entry{after(0, 3), after(0, 5)}, entries(t, index)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// An index that cannot be written is given up, and stays so.
func TestIndexIsGivenUp(t *testing.T) {
	index, time := &memory{fail: errors.New("disk full")}, &clock{at: epoch()}
	w := newWriter(index, time.now, Entry{})
	for range 3 {
		w.Note(3)
		time.at = time.at.Add(Step)
	}
	index.fail = nil
	w.Note(3)
	if !index.closed || index.Len() > 0 {
		t.Errorf("closed: %v, %d bytes", index.closed, index.Len())
	}
	if err := w.Close(); err != nil {
		t.Error(err)
	}
}

func TestWriterContinues(t *testing.T) {
	path := filepath.Join(t.TempDir(), "rank-0.out"+Suffix)
	var before time.Time
	for i, tt := range []struct {
		size int64 // of the log, as the caller sees it
		end  int64 // after three more bytes
	}{
		{0, 3},
		{3, 6},
		{1, 9},   // it was rotated: some of it lies elsewhere
		{20, 23}, // somebody wrote to it without an index
	} {
		w, err := NewWriter(openIndex(t, path), tt.size)
		if err != nil {
			t.Fatal(err)
		}
		w.Note(3)
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		list := entries(t, bytes.NewReader(text))
		if len(list) != i+1 || list[i].End != tt.end || list[i].At.Before(before) {
			t.Errorf("%d: %v, want the end %d", i, list, tt.end)
		}
		before = list[len(list)-1].At
	}
}

func TestWriterNeedsToRead(t *testing.T) {
	f := openIndex(t, filepath.Join(t.TempDir(), "index"))
	f.Close()
	if w, err := NewWriter(f, 0); w != nil || !errors.Is(err, os.ErrClosed) {
		t.Errorf("%v, %v", w, err)
	}
}

func openIndex(t *testing.T, path string) *os.File {
	t.Helper()
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	return f
}
