package logtime

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// encode is an index as bytes: pairs of times and sizes, 0 as a mark alone.
func encode(numbers ...uint64) []byte {
	var text []byte
	for _, n := range numbers {
		text = binary.AppendUvarint(text, n)
	}
	return text
}

func TestReader(t *testing.T) {
	ms := uint64(epoch().UnixMilli())
	first := after(0, 10)
	tests := []struct {
		name string
		text []byte
		want []Entry
	}{
		{"empty", nil, nil},
		{"two", encode(0, ms, 10, 5, 1), []Entry{first, after(5*time.Millisecond, 11)}},
		{"continued", encode(0, ms, 10, 0, ms+7, 12), []Entry{first, after(7*time.Millisecond, 12)}},
		{"no mark at the beginning", encode(5, 10), nil},
		{"cut in a number", encode(0, ms, 10, 300)[:len(encode(0, ms, 10))+1], []Entry{first}},
		{"cut between numbers", encode(0, ms, 10, 5), []Entry{first}},
		{"cut behind a mark", encode(0, ms, 10, 0), []Entry{first}},
		{"goes back in time", encode(0, ms, 10, 0, ms-1, 12, 1, 1), []Entry{first}},
		{"goes back in the log", encode(0, ms, 10, 0, ms+1, 9), []Entry{first}},
		{"no time of this world", encode(0, ms, 10, math.MaxUint64, 1), []Entry{first}},
		{"no size of this world", encode(0, ms, 10, 1, math.MaxUint64), []Entry{first}},
		{"a sum that is none", encode(0, ms, 10, 1, math.MaxInt64), []Entry{first}},
		{"more than 64 bits", append(encode(0, ms, 10), bytes.Repeat([]byte{0xff}, 12)...), []Entry{first}},
	}
	for _, tt := range tests {
		if diff := cmp.Diff(tt.want, entries(t, bytes.NewReader(tt.text))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}

// A reader of an index that grows goes on where it was, also after half an entry.
func TestReaderFollows(t *testing.T) {
	ms := uint64(epoch().UnixMilli())
	text := encode(0, ms, 10, 300, 1, 300, 1)
	var index bytes.Buffer
	r := NewReader(&index)
	var got []Entry
	for i := range text {
		index.WriteByte(text[i])
		e, err := r.Next()
		if err == nil {
			got = append(got, e)
		} else if !errors.Is(err, io.EOF) {
			t.Fatal(err)
		}
	}
	const step = 300 * time.Millisecond
	if diff := cmp.Diff([]Entry{after(0, 10), after(step, 11), after(2*step, 12)}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// broken is a disk that cannot be read.
type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, errors.New("input/output error") }

func TestReaderTellsOfADisk(t *testing.T) {
	if _, err := NewReader(broken{}).Next(); err == nil || errors.Is(err, io.EOF) {
		t.Errorf("error %v", err)
	}
}

// An index comes from a directory that others may write to.
func FuzzReader(f *testing.F) {
	f.Add(encode(0, uint64(epoch().UnixMilli()), 10, 5, 1, 0, uint64(epoch().UnixMilli())+9, 400))
	f.Add(encode(0, 0, 0))
	f.Fuzz(func(t *testing.T, text []byte) {
		var last Entry
		for i, e := range entries(t, bytes.NewReader(text)) {
			if i > 0 && (e.At.Before(last.At) || e.End < last.End) || e.End < 0 {
				t.Fatalf("entry %d is %v, behind %v", i, e, last)
			}
			last = e
		}
	})
}

// What a Writer writes, a Reader reads.
func FuzzRoundTrip(f *testing.F) {
	f.Add([]byte{1, 2, 3, 200, 0, 7})
	f.Fuzz(func(t *testing.T, steps []byte) {
		index, time := &memory{}, &clock{at: epoch()}
		w := newWriter(index, time.now, Entry{})
		var size int64
		for _, step := range steps {
			time.at = time.at.Add(Step * 2 * durationOf(step) / 255)
			w.Note(int(step))
			size += int64(step)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		list := entries(t, index)
		if size > 0 && (len(list) == 0 || list[len(list)-1].End != size) {
			t.Fatalf("%d bytes written, index %v", size, list)
		}
	})
}

func durationOf(b byte) time.Duration { return time.Duration(b) }
