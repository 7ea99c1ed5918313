package rundir

import (
	"sync"
	"time"
)

// Watcher tells when something in a directory may have changed: by inotify where that
// works, and by a timer, because a network file system does not tell what another
// machine wrote.
type Watcher struct {
	// C has a value after a change. Several changes may be one value.
	C <-chan struct{}

	changed chan struct{}
	notify  *notifier // nil: only the timer
	stop    chan struct{}
	running sync.WaitGroup
}

// NewWatcher watches nothing yet. every is the timer's period.
func NewWatcher(every time.Duration) *Watcher { return newWatcher(every, newNotifier) }

func newWatcher(every time.Duration, open func() (*notifier, error)) *Watcher {
	w := &Watcher{changed: make(chan struct{}, 1), stop: make(chan struct{})}
	w.C = w.changed
	// Without inotify (too many instances, another system) changes are seen later.
	if n, err := open(); err == nil {
		w.notify = n
		w.running.Go(func() { n.run(w.tell) })
	}
	w.running.Go(func() { w.tick(every) })
	return w
}

// Add watches a directory: files that come, go, and are written, none further down. One
// that cannot be watched is left to the timer.
func (w *Watcher) Add(dir string) {
	if w.notify != nil {
		w.notify.add(dir)
	}
}

func (w *Watcher) tick(every time.Duration) {
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for {
		select {
		case <-w.stop:
			return
		case <-ticker.C:
			w.tell()
		}
	}
}

func (w *Watcher) tell() {
	select {
	case w.changed <- struct{}{}:
	default:
	}
}

// Close ends the watching. C stays open.
func (w *Watcher) Close() {
	close(w.stop)
	if w.notify != nil {
		w.notify.close()
	}
	w.running.Wait()
}
