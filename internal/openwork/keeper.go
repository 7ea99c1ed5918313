package openwork

import (
	"context"
	"errors"
	"slices"
	"sync"
)

// Bounds of a Keeper.
const (
	batchSpans = 512    // exported at once, about
	mostSpans  = 16_384 // kept in memory while the exporter does not take them
)

// Export exports work with the identity of its process, and returns when it has arrived.
type Export func(ctx context.Context, work []Work) error

// Keeper exports work beside the run and removes the journals of what has arrived. Work
// that does not arrive is tried again with the next, and at the end; what is left then
// stays in its journals.
type Keeper struct {
	export  Export
	wake    chan struct{}
	once    sync.Once
	closing chan struct{}
	giveUp  context.CancelFunc
	ended   chan struct{}

	mu      sync.Mutex
	waiting []Work
	busy    int  // so many at the front are being exported
	left    Left // what is in journals alone
}

// Left is what could not be exported. It lies in journals still.
type Left struct {
	Processes, Spans int
	Cause            error // why the latest export failed
}

// errTooMuch is why work stays that was never tried.
var errTooMuch = errors.New("there was too much of it while the exporter was slow")

// NewKeeper starts a Keeper; Close ends it.
func NewKeeper(export Export) *Keeper {
	ctx, giveUp := context.WithCancel(context.Background())
	k := &Keeper{
		export: export, wake: make(chan struct{}, 1), closing: make(chan struct{}), giveUp: giveUp, ended: make(chan struct{}),
	}
	go k.run(ctx)
	return k
}

func (k *Keeper) run(ctx context.Context) {
	defer close(k.ended)
	for {
		select {
		case <-k.wake:
			k.round(ctx)
		case <-k.closing:
			k.round(ctx)
			return
		}
	}
}

// Add takes work to export. It waits for nothing.
func (k *Keeper) Add(work ...Work) {
	k.mu.Lock()
	k.waiting = append(k.waiting, work...)
	k.shorten() // an export may hang for long
	k.mu.Unlock()
	select {
	case k.wake <- struct{}{}:
	default:
	}
}

// Close tries once more what is left, until ctx is over, and says what stays. What is
// being exported goes on until then: it may be arriving.
func (k *Keeper) Close(ctx context.Context) Left {
	defer k.giveUp()
	k.once.Do(func() { close(k.closing) })
	select {
	case <-k.ended:
	case <-ctx.Done():
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	left := k.left
	for _, w := range k.waiting {
		left.add(w)
	}
	switch {
	case left.Processes == 0:
		left.Cause = nil // what failed has arrived since
	case left.Cause == nil && ctx.Err() != nil:
		left.Cause = context.Cause(ctx)
	case left.Cause == nil: // all that was tried has arrived
		left.Cause = errTooMuch
	}
	return left
}

// round exports what waits until one export fails: the next would, too.
func (k *Keeper) round(ctx context.Context) {
	for ctx.Err() == nil {
		batch := k.next()
		if len(batch) == 0 {
			return
		}
		var err error
		if full := withSpans(batch); len(full) > 0 {
			err = k.export(ctx, full)
		}
		k.exported(err)
		if err != nil {
			return
		}
		for _, w := range batch {
			// A journal that cannot be removed would come out again: better than never.
			_ = Remove(w.Path)
		}
	}
}

// next is what is exported together. Only one round goes on at a time, so what is at the
// front stays there.
func (k *Keeper) next() []Work {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.busy = len(k.waiting)
	spans := 0
	for i, w := range k.waiting {
		if spans += len(w.Spans); spans >= batchSpans {
			k.busy = i + 1
			break
		}
	}
	return k.waiting[:k.busy:k.busy]
}

// exported takes note of how it went with what next has given.
func (k *Keeper) exported(err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if err == nil {
		k.waiting = append([]Work(nil), k.waiting[k.busy:]...) // the old array would keep what has gone
		k.busy = 0
		return
	}
	k.left.Cause = err
	k.busy = 0
	k.shorten()
}

// shorten forgets the oldest of very much work. Its journals keep it.
func (k *Keeper) shorten() {
	spans := 0
	for i := len(k.waiting) - 1; i >= k.busy; i-- {
		if spans += max(1, len(k.waiting[i].Spans)); spans <= mostSpans {
			continue
		}
		for _, w := range k.waiting[k.busy : i+1] {
			k.left.add(w)
		}
		k.waiting = slices.Concat(k.waiting[:k.busy], k.waiting[i+1:])
		return
	}
}

func (l *Left) add(w Work) {
	if len(w.Spans) > 0 {
		l.Processes++
		l.Spans += len(w.Spans)
	}
}
