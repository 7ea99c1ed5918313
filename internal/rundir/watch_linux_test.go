package rundir

import (
	"errors"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"
)

// With inotify nobody waits for the timer.
func TestWatcher(t *testing.T) {
	dir := t.TempDir()
	w := NewWatcher(time.Hour)
	defer w.Close()
	w.Add(dir)
	w.Add(filepath.Join(dir, "none"))
	for _, name := range []string{"a", "b", "a"} {
		mustWrite(t, filepath.Join(dir, name), "x")
		<-w.C
	}
}

func TestWatcherByTimer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWatcher(time.Minute, func() (*notifier, error) { return nil, errors.New("none") })
		began := time.Now()
		for i := range 3 {
			<-w.C
			wantEqual(t, "time", time.Since(began), time.Duration(i+1)*time.Minute)
		}
		<-time.After(10 * time.Minute) // changes that nobody asks for are one
		<-w.C
		select {
		case <-w.C:
			t.Error("two values at once")
		default:
		}
		w.Close()
	})
}
