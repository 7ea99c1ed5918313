package rundir

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func newLog(t *testing.T, dir string, sys system) *eventLog {
	t.Helper()
	d, err := makeFolder(dir)
	if err != nil {
		t.Fatal(err)
	}
	l := newEventLog(d, 0, sys)
	t.Cleanup(func() { _, _ = l.close(), d.Close() })
	return l
}

func mustLog(t *testing.T, l *eventLog, kinds ...string) {
	t.Helper()
	for _, kind := range kinds {
		if err := l.write(Event{Kind: kind}); err != nil {
			t.Fatal(err)
		}
	}
}

func TestEventIsOneLine(t *testing.T) {
	d := newDir(t)
	rank, code := 3, 0
	err := d.Event(Event{Time: testTime, Kind: RankEnded, Attempt: "attempt-0", Rank: &rank, ExitCode: &code, Message: "a\nb\x1b[31m\u009b1m\x7f\xff\u2028é<module>"})
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(content(t, d.Path()+"/"+eventsName), "\n")
	got := lines[len(lines)-2]
	for _, part := range []string{
		`{"time":"2026-03-01T12:00:00Z","mono_ns":`, `"event":"rank_ended","node":0,"attempt":"attempt-0","rank":3,`, `"exit_code":0,`,
		`"message":"a\nb\u001b[31m\u009b1m\u007f\ufffd\u2028é<module>"}`,
	} {
		if !strings.Contains(got, part) {
			t.Errorf("the line is %s, it has no %s", got, part)
		}
	}
	events := allEvents(t, d.Path())
	wantEqual(t, "message", events[len(events)-1].Message, "a\nb\x1b[31m\u009b1m\x7f\ufffd\u2028é<module>")
}

// One write for an event: a reader never sees a part of one.
func TestEventIsOneWrite(t *testing.T) {
	sys := realSystem()
	var writes []string
	sys.write = func(f *os.File, text []byte) (int, error) {
		writes = append(writes, string(text))
		return f.Write(text)
	}
	l := newLog(t, t.TempDir(), sys)
	mustLog(t, l, "a", "b")
	for _, text := range writes {
		if strings.Count(text, "\n") != 1 || !strings.HasSuffix(text, "\n") {
			t.Errorf("a write is %q", text)
		}
	}
	wantEqual(t, "writes", len(writes), 2)
}

// The two clocks belong together, whatever is done to the wall clock.
func TestEventClocks(t *testing.T) {
	sys := realSystem()
	zero := time.Now()
	sys.now = func() time.Time { return zero }
	sys.boot = func() time.Duration { return 1000 * time.Second }
	dir := t.TempDir()
	l := newLog(t, dir, sys)
	for _, at := range []time.Time{{}, zero.Add(5 * time.Second), zero.Add(-time.Second)} {
		if err := l.write(Event{Kind: "x", Time: at}); err != nil {
			t.Fatal(err)
		}
	}
	monos := map[int64]bool{}
	for _, ev := range allEvents(t, dir) {
		monos[ev.Mono/int64(time.Second)] = true
		wantEqual(t, "zone", ev.Time.Location().String(), "UTC")
	}
	wantEqual(t, "seconds since boot", monos, map[int64]bool{999: true, 1000: true, 1005: true})
}

// What a crash cut off stays as it is, and hides no other event.
func TestEventsAfterACrash(t *testing.T) {
	for _, torn := range []string{"", "{", `{"time":"2026-03-01T12:00:00Z","event":"rank_en`, "\xff\x00", `{"time":"2026-03-01T12:00:00Z","mono_ns":1,"event":"whole","node":0}`} {
		dir := t.TempDir()
		first := `{"time":"2026-03-01T11:00:00Z","mono_ns":1,"event":"first","node":0}` + "\n"
		mustWrite(t, filepath.Join(dir, eventsName), first+torn)
		l := newLog(t, dir, realSystem())
		mustLog(t, l, "a", "b")
		want := []string{"first", "a", "b"}
		if strings.HasSuffix(torn, "}") {
			want = []string{"first", "whole", "a", "b"}
		}
		wantEqual(t, fmt.Sprintf("events after %q", torn), kinds(allEvents(t, dir)), want)
		if !strings.HasPrefix(content(t, filepath.Join(dir, eventsName)), first+torn) {
			t.Errorf("what was there has changed")
		}
	}
}

// A full disk has no partial lines, and what is missing is counted.
func TestEventsOnAFullDisk(t *testing.T) {
	for room := 0; room < 130; room += 9 {
		disk := &shortDisk{room: 100000, full: unix.ENOSPC}
		sys := realSystem()
		sys.write = disk.write
		dir := t.TempDir()
		l := newLog(t, dir, sys)
		mustLog(t, l, "a")
		disk.set(room)
		lost := 0
		for range 3 {
			if err := l.write(Event{Kind: "lost", Time: testTime}); err != nil {
				lost++
			}
		}
		wholeLines(t, filepath.Join(dir, eventsName))
		disk.set(100000)
		mustLog(t, l, "b", "c")
		events := allEvents(t, dir)
		var count int
		for _, ev := range events {
			if ev.Kind == EventsLost {
				count += ev.Count
			}
		}
		if count != lost || lost < 2 {
			t.Errorf("room for %d: %d events were lost, %d are said to be: %v", room, lost, count, kinds(events))
		}
		wantEqual(t, "last events", kinds(events[len(events)-2:]), []string{"b", "c"})
		if lost > 0 {
			wantEqual(t, "first of them", events[len(events)-3].Kind, EventsLost)
		}
	}
}

// Even what cannot be taken back does no harm.
func TestEventThatCannotBeTakenBack(t *testing.T) {
	disk := &shortDisk{room: 100000, full: unix.EIO}
	sys := realSystem()
	sys.write = func(f *os.File, text []byte) (int, error) {
		n, err := disk.write(f, text)
		if err != nil { // the file loses its rights, as on a server
			f.Close()
		}
		return n, err
	}
	dir := t.TempDir()
	l := newLog(t, dir, sys)
	mustLog(t, l, "a")
	disk.set(10)
	if err := l.write(Event{Kind: "lost"}); err == nil {
		t.Error("no error")
	}
	wantEqual(t, "torn", l.torn, true)
	l.file = nil // it is opened again
	disk.set(100000)
	mustLog(t, l, "b")
	wantEqual(t, "events", kinds(allEvents(t, dir)), []string{"a", EventsLost, "b"})
}

func TestEventsFileThatCannotBeOpened(t *testing.T) {
	dir := t.TempDir()
	mustMkdir(t, filepath.Join(dir, eventsName))
	var w warnings
	o := testOptions(t, dir)
	o.Warn = w.add
	d := mustOpen(t, o)
	for range 3 {
		wantError(t, d.Event(Event{Kind: "x"}), "events.jsonl")
	}
	if list := w.all(); len(list) != 1 {
		t.Errorf("warned %d times: %v", len(list), list)
	}
	// It comes back, and so do the events.
	if err := os.Remove(filepath.Join(dir, eventsName)); err != nil {
		t.Fatal(err)
	}
	if err := d.Event(Event{Kind: "y"}); err != nil {
		t.Fatal(err)
	}
	events := allEvents(t, dir)
	wantEqual(t, "events", kinds(events), []string{EventsLost, "y"})
	wantEqual(t, "lost", events[0].Count, 4) // and run_began
}

func TestEventsFromManyGoroutines(t *testing.T) {
	d := newDir(t)
	const goroutines, each = 8, 25
	var wg sync.WaitGroup
	for g := range goroutines {
		wg.Go(func() {
			for i := range each {
				if err := d.Event(Event{Kind: "x", Message: fmt.Sprintf("%d.%d %s", g, i, strings.Repeat("m", 3000))}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	wantEqual(t, "lines", len(wholeLines(t, d.Path()+"/"+eventsName)), 1+goroutines*each)
	next := map[string]int{}
	for _, ev := range allEvents(t, d.Path())[1:] {
		g, i, _ := strings.Cut(strings.Fields(ev.Message)[0], ".")
		if i != fmt.Sprint(next[g]) {
			t.Fatalf("event %s of goroutine %s comes after %d", i, g, next[g])
		}
		next[g]++
	}
}

func TestEventAfterClose(t *testing.T) {
	d := newDir(t)
	mustClose(t, d)
	for what, err := range map[string]error{
		"Event": d.Event(Event{Kind: "x"}), "Update": d.Update(func(*Run) {}), "Note": d.Note(func(*Run) {}),
	} {
		wantError(t, err, "closed")
		if err == nil {
			t.Error(what)
		}
	}
	mustClose(t, d)
}

// Texts of others are bounded: a traceback of a megabyte is in the rank's own file.
func TestEventsAreBounded(t *testing.T) {
	d := newDir(t)
	long := strings.Repeat("\x1b", maxMessage+1) // each becomes six bytes
	lines := strings.Split(strings.Repeat(long+"\n", 40), "\n")
	left := slices.Repeat([]LeftRecord{{Pid: 1, Program: long, Why: long}}, 40)
	err := d.Event(Event{Kind: "x", Message: long, Warnings: lines, Cause: &CauseRecord{Message: long, Stderr: lines, Why: long}, Left: left})
	if err != nil {
		t.Fatal(err)
	}
	if size := len(content(t, d.Path()+"/"+eventsName)); size > maxEvent {
		t.Errorf("a line has %d bytes, readers take %d", size, maxEvent)
	}
	wantEqual(t, "kinds", kinds(allEvents(t, d.Path())), []string{RunBegan, "x"})
}
