package rundir

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// eventLine is a line of events.jsonl, so many seconds after testTime.
func eventLine(kind string, seconds int) string {
	line, err := encodeLine(Event{Kind: kind, Time: testTime.Add(time.Duration(seconds) * time.Second)})
	if err != nil {
		panic(err)
	}
	return string(line)
}

func writeEvents(t *testing.T, dir string, lines ...string) {
	t.Helper()
	mustMkdir(t, dir)
	mustWrite(t, filepath.Join(dir, eventsName), strings.Join(lines, ""))
}

func TestEventsOfNoDirectory(t *testing.T) {
	for ev, err := range Events(filepath.Join(t.TempDir(), "none")) {
		wantError(t, err, "cannot read events")
		wantEqual(t, "event", ev, Event{})
	}
	wantEqual(t, "of an empty one", len(allEvents(t, t.TempDir())), 0)
}

func TestEventsOfNodes(t *testing.T) {
	dir := t.TempDir()
	writeEvents(t, dir, eventLine("old", -10))
	writeEvents(t, dir+"/node-0", eventLine("a", 0), eventLine("c", 2), eventLine("g", 9))
	writeEvents(t, dir+"/node-10", eventLine("b", 1), eventLine("d", 3), eventLine("back", -5), eventLine("f", 8))
	mustMkdir(t, dir+"/node-3")
	events := allEvents(t, dir)
	wantEqual(t, "events", strings.Join(kinds(events), " "), "old a b c d back f g")
	var nodes []int
	for _, ev := range events {
		nodes = append(nodes, ev.Node)
	}
	wantEqual(t, "nodes", nodes, []int{0, 0, 10, 0, 10, 10, 10, 0})
	// Whoever has seen enough stops.
	for ev, err := range Events(dir) {
		if ev.Kind == "b" {
			break
		}
		if err != nil || ev.Kind == "c" {
			t.Errorf("%v, %v", ev, err)
		}
	}
}

// What is no event is passed over, and so is a line that is not whole.
func TestEventsAmongOtherThings(t *testing.T) {
	dir := t.TempDir()
	good := eventLine("good", 0)
	bad := []string{
		"\n", "{}\n", "null\n", "[]\n", "hello\n", `{"event":"x"}` + "\n", `{"time":"2026-03-01T12:00:00Z"}` + "\n", `{"time":5,"event":"x"}` + "\n",
		`{"time":"2026-03-01T12:00:00Z","event":"x","attempt":"../x"}` + "\n", `{"time":"2026-03-01T12:00:00Z","event":"x","rank":-1}` + "\n",
		`{"time":"2026-03-01T12:00:00Z","event":"x","pid":-1}` + "\n", `{"time":"2026-03-01T12:00:00Z","event":"x","node":-1}` + "\n",
		"\x00\xff\n", strings.TrimSuffix(good, "}\n") + "\n", strings.Repeat("[", 100000) + "\n",
	}
	writeEvents(t, dir, strings.Join(bad, good), good, strings.TrimSuffix(good, "\n"))
	wantEqual(t, "events", len(allEvents(t, dir)), len(bad))
}

// Lines longer than any event of ours cost no memory.
func TestLongLines(t *testing.T) {
	good := eventLine("good", 0)
	for _, size := range []int{readChunk - 1, readChunk, readChunk + 1, maxEvent, 2*maxEvent + 17} {
		dir := t.TempDir()
		writeEvents(t, dir, good, strings.Repeat("x", size-1), "\n", good, strings.Repeat("y", size))
		wantEqual(t, fmt.Sprintf("events around %d bytes", size), len(allEvents(t, dir)), 2)
	}
	dir := t.TempDir()
	long, err := encodeLine(Event{Kind: "long", Time: testTime, Message: strings.Repeat("m", 3*readChunk)})
	if err != nil {
		t.Fatal(err)
	}
	writeEvents(t, dir, good, string(long), good)
	wantEqual(t, "events", kinds(allEvents(t, dir)), []string{"good", "long", "good"})
}

func TestManyEvents(t *testing.T) {
	dir := t.TempDir()
	var lines []string
	for i := range 3000 { // several reads
		lines = append(lines, eventLine(fmt.Sprint(i), i))
	}
	writeEvents(t, dir, lines...)
	events := allEvents(t, dir)
	wantEqual(t, "events", len(events), len(lines))
	for i, ev := range events {
		if ev.Kind != fmt.Sprint(i) {
			t.Fatalf("event %d is %s", i, ev.Kind)
		}
	}
}

// An error comes after the events of those that can be read.
func TestEventsOfABrokenNode(t *testing.T) {
	dir := t.TempDir()
	writeEvents(t, dir+"/node-0", eventLine("a", 0))
	mustMkdir(t, dir+"/node-1/"+eventsName)
	var got []string
	var last error
	for ev, err := range Events(dir) {
		if err != nil {
			last = err
			continue
		}
		got = append(got, ev.Kind)
	}
	wantEqual(t, "events", got, []string{"a"})
	wantError(t, last, "cannot read events", "node-1", "no regular file")
}

// A line that is being written is read when it is whole, and one that is taken back
// never.
func TestReadingWhileItIsWritten(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, eventsName)
	l := &lineReader{part: part{path: path, node: -1}}
	step := func(text string, want ...string) {
		t.Helper()
		mustWrite(t, path, text)
		events, more, err := l.read()
		if err != nil || more {
			t.Fatal(more, err)
		}
		if len(want) != len(events) {
			t.Errorf("after %q: %v, want %v", text, kinds(events), want)
		}
	}
	if _, _, err := l.read(); err != nil {
		t.Errorf("before it is there: %v", err)
	}
	a, b := eventLine("a", 0), eventLine("b", 1)
	step("")
	step(a[:10])
	step(a, "a")
	step(a + b[:5])
	step(a)
	step(a+b, "b")
	step(a + b)
	step(a+b+"torn\n"+a+b, "a", "b")
}

func FuzzEvents(f *testing.F) {
	f.Add([]byte(eventLine("a", 0)+"torn\n"+eventLine("b", 1)), 7)
	f.Add([]byte("\n\n{}\n"+eventLine("c", 2)), 1)
	f.Fuzz(func(t *testing.T, text []byte, cut int) {
		dir := t.TempDir()
		path := filepath.Join(dir, eventsName)
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		all := allEvents(t, dir)
		for _, ev := range all {
			if ev.Attempt != "" && !IsAttempt(ev.Attempt) || ev.Kind == "" || ev.Rank != nil && *ev.Rank < 0 {
				t.Errorf("it is taken for an event: %+v", ev)
			}
		}
		// Read in two parts it says the same.
		cut = max(0, min(cut, len(text)))
		l := &lineReader{part: part{path: path, node: -1}}
		n := 0
		for _, piece := range [][]byte{text[:cut], text} {
			if err := os.WriteFile(path, piece, 0o600); err != nil {
				t.Fatal(err)
			}
			for more := true; more; {
				events, again, err := l.read()
				if err != nil {
					t.Fatal(err)
				}
				n, more = n+len(events), again
			}
		}
		wantEqual(t, "events in two parts", n, len(all))
		// A launcher can go on here.
		log := newLog(t, dir, realSystem())
		mustLog(t, log, "next")
		after := allEvents(t, dir)
		if len(after) == 0 || after[len(after)-1].Kind != "next" || len(after) > len(all)+2 {
			t.Errorf("%v became %v", kinds(all), kinds(after))
		}
	})
}

func TestSourceErrorsAreJoined(t *testing.T) {
	dir := t.TempDir()
	for node := range 2 {
		mustMkdir(t, fmt.Sprintf("%s/node-%d/%s", dir, node, eventsName))
	}
	for _, err := range Events(dir) {
		if err == nil || strings.Count(err.Error(), "cannot read events") != 2 {
			t.Errorf("the error is %v", err)
		}
		if errors.Is(err, os.ErrNotExist) {
			t.Error("it is said not to exist")
		}
	}
}
