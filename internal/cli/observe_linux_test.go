package cli

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"lenslaunch/internal/openwork"
	"lenslaunch/internal/otelsetup"
	"lenslaunch/journal"
)

// newObserved is the telemetry of a run whose journals are in a directory.
func newObserved(t *testing.T) *observed {
	t.Helper()
	dir := t.TempDir()
	if _, err := journal.Create(dir, journal.RankName("attempt-0", 1), journal.Header{Slots: 1}); err != nil {
		t.Fatal(err)
	}
	home, err := openwork.Settle(openwork.Place{Dir: dir, Own: 1})
	if err != nil {
		t.Fatal(err)
	}
	s := &observed{
		home: home, recovering: make(chan struct{}), most: time.Millisecond, stop: func() {},
		telemetry: otelsetup.Setup(t.Context(), otelsetup.Options{Mode: otelsetup.ModeOff}),
		say:       notices{warn: func(msg string, _ ...any) { t.Error(msg) }, debug: func(string, ...any) {}},
	}
	s.going, s.over = context.WithCancel(t.Context())
	if s.lock, err = openwork.Lock(dir); err != nil {
		t.Fatal(err)
	}
	return s
}

// hold keeps a journal in use as a process does that outlived its launcher and the guard.
func hold(t *testing.T, path string) *os.File {
	t.Helper()
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err == nil {
		err = unix.Flock(int(f.Fd()), unix.LOCK_EX)
	}
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// What a process has open that lives on when the next launcher starts comes out when that
// launcher has ended it: it stayed until the launcher after the next.
func TestLeftoversOfProcessesThatLivedOn(t *testing.T) {
	for name, run := range map[string]func(*observed){
		"while the run goes on": func(*observed) {},
		"and the run ends":      func(s *observed) { s.over() },
	} {
		t.Run(name, func(t *testing.T) {
			s := newObserved(t)
			path := s.home.Leftovers[0].Path
			writer := hold(t, path)
			if left := s.recoverOnce(t.Context(), s.home.Leftovers, nil); len(left) != 1 || left[0].Path != path {
				t.Fatalf("left while it is written: %v", left)
			}
			go s.recoverLeftovers(t.Context(), nil)
			writer.Close()
			run(s)
			<-s.recovering
			if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("the journal is still there: %v", err)
			}
			s.end("over")
			if _, err := os.Lstat(journal.Folder(s.home.Dir)); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("the folder of journals is still there: %v", err)
			}
		})
	}
}

// A file system that hangs while leftovers are recovered does not keep the launcher.
func TestEndOfTelemetryIsBounded(t *testing.T) {
	s := newObserved(t)
	s.end("over") // nobody closes recovering
	close(s.recovering)
}
