package journal

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/otel/trace"
)

func decoded(t testing.TB, b []byte) *Journal {
	t.Helper()
	j, err := decode(bytes.Clone(b), ReadOptions{Slots: 4}, once)
	if err != nil {
		t.Fatal(err)
	}
	return j
}

// Truncated anywhere a journal is refused as a whole or gives the whole spans of the
// whole slots, and says how many slots are missing.
func TestTruncatedAtEveryByte(t *testing.T) {
	b := image(t)
	whole := decoded(t, b)
	if diff := cmp.Diff([]string{"outer", "done", "inner ä"}, namesOf(whole.Spans)); diff != "" {
		t.Fatal(diff)
	}
	for n := range b {
		j, err := decode(b[:n:n], ReadOptions{Slots: 4}, once)
		if n < offSlot {
			if err == nil {
				t.Fatalf("%d bytes: no error", n)
			}
			continue
		}
		slots := (n - offSlot) / slotSize
		if err != nil || j.Missing != 4-slots || j.Torn != 0 || len(j.Spans) != min(slots, 3) {
			t.Fatalf("%d bytes: %v, %+v", n, err, j)
		}
	}
}

// One byte that changed anywhere in a slot costs at most this span, and never makes
// another one of it.
func TestOneWrongByteAnywhere(t *testing.T) {
	b := image(t)
	whole := decoded(t, b).Spans
	for offset := offSlot; offset < offSlot+3*slotSize; offset++ {
		for _, flip := range []byte{1, 2, 0x80, 0xff} {
			b[offset] ^= flip
			j := decoded(t, b)
			b[offset] ^= flip
			if len(j.Spans) < 2 {
				t.Fatalf("offset %d: %d spans", offset, len(j.Spans))
			}
			for _, s := range j.Spans {
				if !known(whole, s) {
					t.Fatalf("offset %d ^ %#x made %+v", offset, flip, s)
				}
			}
		}
	}
}

// known allows for the state, which stands by itself: an ended span may look open.
func known(whole []Span, s Span) bool {
	for _, w := range whole {
		if s.Open() {
			w.End, w.Status = time.Time{}, 0
		}
		if w == s {
			return true
		}
	}
	return false
}

// A writer that is killed at any byte of filling a slot, in the order in which it
// writes, leaves what was there, without the old span, or the new span whole.
func TestTornAtEveryByteOfASlot(t *testing.T) {
	b := image(t)
	first, second := bytes.Clone(b[offSlot:][:slotSize]), b[offSlot+2*slotSize:][:slotSize]
	slot := b[offSlot:][:slotSize]
	for _, old := range [][]byte{make([]byte, slotSize), first} {
		copy(slot, old)
		le.PutUint64(slot, le.Uint64(slot)&^stateMask) // as the writer leaves it
		for n := slotBody; n < slotEnd; n++ {
			slot[n] = second[n]
			if j := decoded(t, b); len(j.Spans) != 2 || j.Torn != 0 {
				t.Fatalf("byte %d: %v, %d torn", n, namesOf(j.Spans), j.Torn)
			}
		}
		for n := slotCRC; n < slotBody; n++ {
			slot[n] = second[n]
		}
		if j := decoded(t, b); len(j.Spans) != 2 || j.Torn != 0 {
			t.Fatalf("before the state word: %v, %d torn", namesOf(j.Spans), j.Torn)
		}
		le.PutUint64(slot, le.Uint64(slot)+1<<2+stateOpen)
		if j := decoded(t, b); len(j.Spans) != 3 || j.Torn != 0 {
			t.Fatalf("whole: %v, %d torn", namesOf(j.Spans), j.Torn)
		}
	}
	// Without the state word the same is torn, and counted, not believed.
	copy(slot, first)
	copy(slot[slotBody:slotBody+50], second[slotBody:])
	if j := decoded(t, b); j.Torn != 1 {
		t.Errorf("%+v", j)
	}
}

// A kill between the three stores that end a span leaves it open.
func TestTornWhileEnding(t *testing.T) {
	b := image(t)
	slot := b[offSlot:][:slotSize] // "outer", open
	check := func(step string, open bool) {
		t.Helper()
		j := decoded(t, b)
		if j.Torn != 0 || len(j.Spans) != 3 || j.Spans[0].Name != "outer" || j.Spans[0].Open() != open {
			t.Errorf("%s: %+v", step, j)
		}
	}
	end := uint64(time.Now().UnixNano())
	le.PutUint64(slot[slotEnd:], end)
	check("end", true)
	le.PutUint32(slot[slotMarks:], marks(2, slot[slotMarks+2], slot[slotMarks+3], end))
	check("marks", true)
	le.PutUint64(slot, le.Uint64(slot)-stateOpen+stateEnded)
	check("state", false)
}

func TestFilesThatAreNoJournal(t *testing.T) {
	good := image(t)
	changed := func(change func(b []byte)) []byte {
		b := bytes.Clone(good)
		change(b)
		return b
	}
	for name, test := range map[string]struct {
		b    []byte
		want string
	}{
		"empty":       {nil, "no span journal"},
		"text":        {[]byte(strings.Repeat("hello\n", 9999)), "no span journal"},
		"zeros":       {make([]byte, size(4)), "no span journal"},
		"version 2":   {changed(func(b []byte) { b[offVersion] = 2 }), "version 2 of the format"},
		"slot size":   {changed(func(b []byte) { b[offSlotSize] = 1 }), "first page is damaged"},
		"huge counts": {changed(func(b []byte) { copy(b[offSlots:], "\xff\xff\xff\xff") }), "first page is damaged"},
		"run id":      {changed(func(b []byte) { b[offRunID] ^= 1 }), "first page is damaged"},
	} {
		_, err := Read(write(t, test.b), ReadOptions{})
		if err == nil || !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), "cannot read journal") {
			t.Errorf("%s: %v, want %q", name, err, test.want)
		}
	}
}

// Counts that lie, with a checksum that says they are right.
func TestHugeCounts(t *testing.T) {
	b := image(t)
	h := Header{Slots: 1<<32 - 1, RunID: "x"}
	copy(b, h.encode())
	le.PutUint64(b[offResource:], 1<<32-1)
	for i := range maxScopes {
		le.PutUint64(b[offScopes+i*scopeSize:], 1<<64-1)
	}
	j, err := Read(write(t, b), ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if len(j.Spans) != 3 || j.Resource != nil || j.Spans[0].Scope != (Scope{}) || j.Missing != MaxSlots-4 {
		t.Errorf("%+v", j)
	}
	if j, err = Read(write(t, b), ReadOptions{Slots: 2}); err != nil || len(j.Spans) != 2 {
		t.Errorf("the caller knows of 2 slots: %v, %+v", err, j)
	}
}

// What checksums say is right and yet no span.
func TestImplausibleSpans(t *testing.T) {
	death := time.Unix(100, 0)
	good := Span{TraceID: trace.TraceID{1}, SpanID: trace.SpanID{1}, Name: "x", Start: death, TraceFlags: 1}
	for name, change := range map[string]func(s *Span){
		"good":         func(*Span) {},
		"no trace id":  func(s *Span) { s.TraceID = trace.TraceID{} },
		"no span id":   func(s *Span) { s.SpanID = trace.SpanID{} },
		"no text":      func(s *Span) { s.Name = "a\xff" },
		"after death":  func(s *Span) { s.Start = death.Add(1) },
		"before 1970":  func(s *Span) { s.Start = time.Unix(-1, 0) },
		"ended at 0":   func(s *Span) { s.End = time.Unix(0, 0) },
		"ended before": func(s *Span) { s.End = time.Unix(0, 0).Add(-time.Hour) },
	} {
		s := good
		change(&s)
		_, ok, err := decodeSlot(slotOf(&s), nil, death)
		if want := name == "good"; ok != want || (err == nil) != want {
			t.Errorf("%s: %v, %v", name, ok, err)
		}
	}
}

// slotOf is the slot of a span with all checks right.
func slotOf(s *Span) []byte {
	b := make([]byte, slotSize)
	fillIDs(b, &s.TraceID, &s.SpanID, &s.Parent)
	fillName(b, s.Name)
	fillNumbers(b, uint64(s.Start.UnixNano()), s.Thread, 0, s.Step, s.Epoch)
	le.PutUint32(b[slotCRC:], bodyCRC(b))
	state, end := uint64(stateOpen), uint64(0)
	if !s.Open() {
		state, end = stateEnded, uint64(s.End.UnixNano())
	}
	le.PutUint64(b[slotEnd:], end)
	le.PutUint32(b[slotMarks:], marks(otlpStatus(s.Status), uint8(s.Kind), uint8(s.TraceFlags), end))
	le.PutUint64(b, 1<<2|state)
	return b
}

func TestDeathBoundsTheSpans(t *testing.T) {
	path := write(t, image(t))
	j, err := Read(path, ReadOptions{Slots: 4, Death: time.Unix(5, 0)})
	if err != nil || len(j.Spans) != 0 || j.Torn != 3 {
		t.Errorf("%v, %+v", err, j)
	}
}

// A slot that was being changed when the file was read is read again.
func TestTornSlotIsReadAgain(t *testing.T) {
	b := image(t)
	whole := bytes.Clone(b[offSlot:][:slotSize])
	b[offSlot+slotName] ^= 1
	for tries := range again + 2 {
		calls := 0
		j, err := decode(bytes.Clone(b), ReadOptions{Slots: 4}, func(slot []byte, offset int) bool {
			if calls++; calls == tries && offset == offSlot {
				copy(slot, whole)
			}
			return true
		})
		if want := tries == 0 || tries > again; err != nil || (j.Torn == 1) != want {
			t.Errorf("whole at try %d: %v, %d torn", tries, err, j.Torn)
		}
	}
}

func TestParentsFirst(t *testing.T) {
	at := func(id, parent byte, start int64) Span {
		return Span{SpanID: trace.SpanID{id}, Parent: trace.SpanID{parent}, Start: time.Unix(start, 0), Name: fmt.Sprint(id)}
	}
	for name, test := range map[string]struct {
		spans []Span
		want  string
	}{
		"by start":                    {[]Span{at(3, 2, 3), at(1, 0, 1), at(2, 1, 2)}, "1 2 3"},
		"a child with an older clock": {[]Span{at(3, 2, 1), at(2, 1, 2), at(1, 0, 3)}, "1 2 3"},
		"a parent that is not here":   {[]Span{at(3, 9, 2), at(2, 8, 1)}, "2 3"},
		"a circle":                    {[]Span{at(1, 2, 1), at(2, 1, 2), at(3, 3, 3)}, "2 1 3"},
		"none":                        {nil, ""},
	} {
		if got := strings.Join(namesOf(parentsFirst(test.spans)), " "); got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}

// Random bytes with a right first page, many times: no panic, nothing made up.
func TestRandomBytes(t *testing.T) {
	random := rand.NewChaCha8([32]byte{1})
	b := make([]byte, size(64))
	h := Header{Slots: 64}
	for range 50 {
		_, _ = random.Read(b)
		copy(b, h.encode())
		j, err := decode(b, ReadOptions{Slots: 64}, once)
		if err != nil || len(j.Spans) != 0 || j.Torn == 0 {
			t.Fatalf("%v, %+v", err, j)
		}
	}
}

func FuzzDecode(f *testing.F) {
	good := image(f)
	f.Add(good)
	f.Add(good[:offSlot+slotSize+7])
	f.Add([]byte(magic))
	f.Fuzz(func(t *testing.T, b []byte) {
		j, err := decode(b, ReadOptions{Slots: MaxSlots}, once)
		if err == nil && len(j.Spans)+j.Torn > (len(b)-offSlot)/slotSize {
			t.Errorf("%d spans and %d torn slots of %d bytes", len(j.Spans), j.Torn, len(b))
		}
	})
}

// FuzzSlot gives slots whose checksums are right, which FuzzDecode hardly finds.
func FuzzSlot(f *testing.F) {
	f.Add(image(f)[offSlot:][:slotSize])
	f.Fuzz(func(t *testing.T, b []byte) {
		slot := make([]byte, slotSize)
		copy(slot, b)
		le.PutUint32(slot[slotCRC:], bodyCRC(slot))
		if s, ok, _ := decodeSlot(slot, []Scope{{Name: "a"}}, time.Unix(1<<32, 0)); ok {
			if !s.SpanID.IsValid() || strings.ToValidUTF8(s.Name, "") != s.Name || len(s.Name) > maxName {
				t.Errorf("%+v", s)
			}
		}
	})
}

func TestReadErrors(t *testing.T) {
	dir := t.TempDir()
	for name, path := range map[string]string{"missing": dir + "/missing", "a directory": dir} {
		if _, err := Read(path, ReadOptions{}); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := Read(dir+"/missing", ReadOptions{}); !os.IsNotExist(unwrapAll(err)) {
		t.Errorf("a missing file cannot be told from others: %v", err)
	}
}

func unwrapAll(err error) error {
	for {
		next, ok := err.(interface{ Unwrap() error })
		if !ok {
			return err
		}
		err = next.Unwrap()
	}
}
