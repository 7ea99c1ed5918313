package cli

import (
	"context"
	"sync"
	"time"
)

// askAgain is how old an answer about GPUs may be: asking takes a second or two of a
// program that the driver serves.
const askAgain = 5 * time.Second

// gpuUse knows which process uses how much GPU memory, without anybody waiting for it.
type gpuUse struct {
	ask  func(context.Context) (map[int]int64, error)
	wait bool // wait for an answer: there will be no second look

	mu     sync.Mutex
	answer map[int]int64
	due    time.Time // when to ask again
	asking sync.WaitGroup
	cancel context.CancelFunc // of the question that is open
}

// now is the latest answer.
func (g *gpuUse) now() map[int]int64 {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.cancel == nil && !time.Now().Before(g.due) {
		ctx, cancel := context.WithCancel(context.Background())
		g.cancel = cancel
		g.asking.Go(func() { g.fetch(ctx) })
		if g.wait {
			g.mu.Unlock()
			g.asking.Wait()
			g.mu.Lock()
		}
	}
	return g.answer
}

func (g *gpuUse) fetch(ctx context.Context) {
	// No answer means no column: the table is about more than GPUs.
	answer, _ := g.ask(ctx)
	g.mu.Lock()
	defer g.mu.Unlock()
	g.cancel()
	g.answer, g.cancel, g.due = answer, nil, time.Now().Add(askAgain)
}

// close ends a question that is open.
func (g *gpuUse) close() {
	g.mu.Lock()
	if g.cancel != nil {
		g.cancel()
	}
	g.mu.Unlock()
	g.asking.Wait()
}
