package rundir

import (
	"errors"
	"os"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// mustNote enters a change.
func mustNote(t *testing.T, s *saver, urgent bool) uint64 {
	t.Helper()
	version, err := s.note(urgent)
	if err != nil {
		t.Fatal(err)
	}
	return version
}

// Many changes while the disk is slow are one write.
func TestChangesTogether(t *testing.T) {
	var wg sync.WaitGroup
	gate := make(chan struct{})
	writes := 0
	s := newSaver(func() error {
		<-gate
		writes++
		return nil
	})
	for range 100 {
		version := mustNote(t, s, true)
		wg.Go(func() {
			if err := s.wait(version); err != nil {
				t.Error(err)
			}
		})
	}
	close(gate)
	wg.Wait()
	if err := s.close(); err != nil {
		t.Error(err)
	}
	if writes > 2 {
		t.Errorf("%d writes for 100 changes at once", writes)
	}
}

// Changes that nobody waits for are written now and then, the first at once; one that
// somebody waits for takes them along.
func TestChangesNowAndThen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		var writes []time.Duration
		s := newSaver(func() error {
			writes = append(writes, time.Since(began))
			return nil
		})
		pass := func(d time.Duration) {
			<-time.After(d)
			synctest.Wait()
		}
		want := func(what string, times ...time.Duration) {
			t.Helper()
			synctest.Wait()
			wantEqual(t, what, writes, times)
			writes = nil
			began = time.Now()
		}
		mustNote(t, s, false)
		want("the first", 0)
		for range 9 {
			pass(10 * time.Millisecond)
			mustNote(t, s, false)
		}
		pass(30 * time.Millisecond)
		want("some", saveEvery)
		mustNote(t, s, false)
		if err := s.wait(mustNote(t, s, true)); err != nil {
			t.Error(err)
		}
		want("an urgent one", 0)
		pass(time.Hour)
		want("none")
		mustNote(t, s, false)
		want("after a long time", 0)
		mustNote(t, s, false)
		if err := s.close(); err != nil {
			t.Error(err)
		}
		want("at the end", 0)
	})
}

// A write that fails is tried again with the next change and at the end, and not
// without.
func TestSaverTriesAgain(t *testing.T) {
	full := errors.New("full")
	for _, works := range []int{1, 2, 3} { // from which write on
		writes := 0
		s := newSaver(func() error {
			if writes++; writes < works {
				return full
			}
			return nil
		})
		if err := s.wait(mustNote(t, s, true)); (err == nil) != (works == 1) {
			t.Errorf("works from %d: the first change says %v", works, err)
		}
		if err := s.close(); (err == nil) != (works < 3) {
			t.Errorf("works from %d: the end says %v", works, err)
		}
		wantEqual(t, "writes", writes, min(works, 2))
	}
}

func TestSaverRestsAfterAFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		writes := 0
		s := newSaver(func() error {
			writes++
			return errors.New("full")
		})
		mustNote(t, s, false)
		<-time.After(time.Hour)
		synctest.Wait()
		wantEqual(t, "writes in an hour", writes, 1)
		if s.close() == nil {
			t.Error("no error at the end")
		}
		wantEqual(t, "writes", writes, 2)
	})
}

func TestSaverWithoutChanges(t *testing.T) {
	s := newSaver(func() error {
		t.Error("it writes")
		return nil
	})
	if err := s.close(); err != nil {
		t.Error(err)
	}
	if _, err := s.note(true); !errors.Is(err, os.ErrClosed) {
		t.Errorf("a change after the end: %v", err)
	}
}

// A change that comes during the last write is in the file too, or is refused.
func TestSaverChangesAtTheEnd(t *testing.T) {
	for range 200 {
		var mu sync.Mutex
		said, saved := 0, 0
		s := newSaver(func() error {
			mu.Lock()
			defer mu.Unlock()
			saved = said
			return nil
		})
		var wg sync.WaitGroup
		for range 3 {
			wg.Go(func() {
				mu.Lock()
				defer mu.Unlock()
				if _, err := s.note(false); err == nil {
					said++
				}
			})
		}
		if err := s.close(); err != nil {
			t.Error(err)
		}
		wg.Wait()
		mu.Lock()
		if said != saved {
			t.Fatalf("%d changes, %d are saved", said, saved)
		}
		mu.Unlock()
	}
}
