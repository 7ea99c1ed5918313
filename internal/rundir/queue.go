package rundir

import "sync"

// queue calls functions one after the other in a goroutine of its own. It takes them at
// any time: there are a few for each rank, so it stays small.
type queue struct {
	mu      sync.Mutex
	more    *sync.Cond
	waiting []func()
	closing bool
	done    chan struct{}
}

func newQueue() *queue {
	q := &queue{done: make(chan struct{})}
	q.more = sync.NewCond(&q.mu)
	go q.run()
	return q
}

func (q *queue) run() {
	defer close(q.done)
	q.mu.Lock()
	defer q.mu.Unlock()
	for {
		for len(q.waiting) == 0 {
			if q.closing {
				return
			}
			q.more.Wait()
		}
		list := q.waiting
		q.waiting = nil
		q.mu.Unlock()
		for _, call := range list {
			call()
		}
		q.mu.Lock()
	}
}

// add does nothing after close.
func (q *queue) add(call func()) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closing {
		return
	}
	q.waiting = append(q.waiting, call)
	q.more.Signal()
}

// close waits for what was added before.
func (q *queue) close() {
	q.mu.Lock()
	q.closing = true
	q.more.Signal()
	q.mu.Unlock()
	<-q.done
}
