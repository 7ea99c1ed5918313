package launcher

import (
	"context"
	"fmt"
	"strings"
	"time"

	"lenslaunch/detect"
)

// gpuMemory keeps a restart from meeting the old attempt's GPU memory: the driver can
// take seconds to give back what a killed process had, and the next attempt would fail
// for want of it (issue 3, "Restart policy").
type gpuMemory struct {
	host   detect.Host
	before chan map[int]int64 // what was in use before the first attempt; once
	base   map[int]int64
}

const (
	gpuQueryEvery = 100 * time.Millisecond
	gpuSlack      = 256 << 20 // bytes: displays and monitors come and go
)

// newGPUMemory begins to look, where the run may restart and there are GPUs. It does
// not delay the first attempt: a CUDA context takes longer than the query. run is how
// programs are started beside the ranks.
func newGPUMemory(ctx context.Context, p *Plan, run func(func())) *gpuMemory {
	if p.Policy.MaxRestarts == 0 || p.GPURelease == 0 || len(p.gpus.GPUs) == 0 {
		return nil
	}
	g := &gpuMemory{host: p.host, before: make(chan map[int]int64, 1)}
	go run(func() {
		used, err := detect.GPUMemory(ctx, g.host)
		if err != nil {
			used = nil
		}
		g.before <- used
	})
	return g
}

// await returns once no GPU holds more than before the first attempt, or when limit is
// over; then it says what is still held.
func (g *gpuMemory) await(ctx context.Context, limit time.Duration, run func(func())) string {
	if g.base == nil {
		g.base = <-g.before
	}
	if len(g.base) == 0 {
		return "" // nobody can tell
	}
	// A query has a limit of its own: cut off by this one it would tell nothing.
	over, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	for {
		var used map[int]int64
		var err error
		run(func() { used, err = detect.GPUMemory(ctx, g.host) })
		held := g.held(used)
		if err == nil && held == "" {
			return ""
		}
		timer := time.NewTimer(gpuQueryEvery)
		select {
		case <-over.Done():
			timer.Stop()
			if held == "" {
				return fmt.Sprintf("cannot tell whether GPU memory was released: %v", err)
			}
			return "GPU memory of the last attempt is not released: " + held
		case <-timer.C:
		}
	}
}

// held lists the GPUs that hold more than before.
func (g *gpuMemory) held(used map[int]int64) string {
	var parts []string
	for index := range len(g.base) {
		if more := used[index] - g.base[index]; more > gpuSlack {
			parts = append(parts, fmt.Sprintf("GPU %d %d MiB", index, more>>20))
		}
	}
	return strings.Join(parts, ", ")
}
