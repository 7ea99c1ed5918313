package rundir

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// smallDisk is a file system of 64 KiB.
func smallDisk(t *testing.T) string {
	t.Helper()
	needRoot(t)
	mount := t.TempDir()
	if err := unix.Mount("tmpfs", mount, "tmpfs", 0, "size=64k,mode=0700"); err != nil {
		t.Skipf("cannot mount: %v", err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(mount, 0); err != nil {
			t.Error(err)
		}
	})
	return mount
}

// fill takes what room there is.
func fill(t *testing.T, f *os.File) {
	t.Helper()
	text := []byte(strings.Repeat("x", 4095) + "\n")
	for {
		if _, err := f.Write(text); errors.Is(err, unix.ENOSPC) {
			return
		} else if err != nil {
			t.Fatal(err)
		}
	}
}

// A disk that is really full, with the launcher's own files on it.
func TestFullDisk(t *testing.T) {
	mount := smallDisk(t)
	var w warnings
	o := testOptions(t, mount+"/run")
	o.Warn = w.add
	d := mustOpen(t, o)
	a := mustBegin(t, d, BeginInfo{})
	out, err := a.Output(0, Out)
	if err != nil {
		t.Fatal(err)
	}
	fill(t, out)
	out.Close()

	// The job restarts all the same: directories need no room here.
	r := NewRecorder(d)
	second := mustBegin(t, d, BeginInfo{})
	wantEqual(t, "name", second.Name(), "attempt-1")
	r.AttemptBegan(AttemptStart{At: testTime, Name: second.Name()})
	for i := range 200 {
		r.SignalTaken(testTime, unix.SIGUSR1, strings.Repeat("y", 100+i))
	}
	r.Close()
	if list := w.all(); len(list) != 1 || !strings.Contains(list[0].Error(), "no space left on device") {
		t.Errorf("warned %d times: %v", len(list), list)
	}
	wholeLines(t, filepath.Join(o.Dir, eventsName))
	wantEqual(t, "attempts", names(mustRead(t, o.Dir)), []string{"attempt-0"})

	// Somebody makes room.
	if err := unix.Truncate(a.OutputPath(0, Out), 0); err != nil {
		t.Fatal(err)
	}
	r = NewRecorder(d)
	r.RunEnded(RunEnd{At: testTime, Outcome: OutcomeSuccess})
	r.Close()
	mustClose(t, d)
	events := allEvents(t, o.Dir)
	last := events[len(events)-2:]
	wantEqual(t, "last events", kinds(last), []string{EventsLost, RunEnded})
	if last[0].Count < 100 {
		t.Errorf("%d events were lost", last[0].Count)
	}
	run := mustRead(t, o.Dir)
	wantEqual(t, "attempts", names(run), []string{"attempt-0", "attempt-1"})
	wantEqual(t, "outcome", run.Outcome, OutcomeSuccess)
}

// A job that starts on a full disk starts all the same, as long as it gets its
// directory and the lock.
func TestOpenOnAFullDisk(t *testing.T) {
	mount := smallDisk(t)
	filler, err := os.Create(filepath.Join(mount, "filler"))
	if err != nil {
		t.Fatal(err)
	}
	defer filler.Close()
	fill(t, filler)

	// Without flock the lock needs room: whose it is must be readable.
	o := testOptions(t, mount+"/run")
	_, err = open(o, lockModes()["file"])
	wantError(t, err, "cannot use run directory", "no space left on device")
	wantEqual(t, "left behind", entries(t, o.Dir), []string{})

	var w warnings
	o.Warn = w.add
	d := mustOpen(t, o)
	_, err = Open(o)
	wantError(t, err, "another launcher holds it")
	a := mustBegin(t, d, BeginInfo{})
	out, err := a.Output(0, Out)
	if err != nil {
		t.Fatal(err)
	}
	out.Close()
	wantEqual(t, "warnings", len(w.all()), 1)
	if err := filler.Truncate(0); err != nil {
		t.Fatal(err)
	}
	mustClose(t, d)
	wantEqual(t, "attempts", names(mustRead(t, o.Dir)), []string{"attempt-0"})
}

// A rank's own file is capped on a full disk too: nothing is renamed for want of room.
func TestRotationOnASmallDisk(t *testing.T) {
	mount := smallDisk(t)
	o := testOptions(t, mount+"/run")
	o.Warn = func(error) {}
	a := mustBegin(t, mustOpen(t, o), BeginInfo{})
	w := mustRotate(t, a, 8192, 3)
	line := []byte(strings.Repeat("y", 1023) + "\n")
	written := 0
	for range 200 { // three times what fits, but old files go
		n, err := w.Write(line)
		if err != nil {
			t.Fatalf("after %d bytes: %v", written, err)
		}
		written += n
	}
	for _, text := range contents(t, a) {
		if len(text) > 8192 || strings.Count(text, "\n")*len(line) != len(text) {
			t.Errorf("a file has %d bytes", len(text))
		}
	}
}
