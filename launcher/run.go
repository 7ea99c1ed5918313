package launcher

import (
	"context"
	"syscall"
	"time"

	"lenslaunch/internal/proc"
)

// Run carries a plan out and returns the exit code. signals are those that the
// process receives; subscribers see every Event in order. Run returns when nothing
// that it started is left, and leaves the process's own environment as it was.
func Run(p *Plan, console Console, signals <-chan syscall.Signal, subscribers ...Subscriber) (int, error) {
	spawner, err := proc.NewSpawner()
	if err != nil {
		return ExitInternal, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	inputs := make(chan input)
	l := loop{
		state:   state{rules: p.rules(p.World)},
		inputs:  inputs,
		signals: signals,
		now:     time.Now,
		machine: &effects{
			plan: p, console: console, inputs: inputs, done: make(chan struct{}), tell: subscribers,
			spawner: spawner, timers: map[timerKind]*time.Timer{}, ctx: ctx, cancel: cancel,
		},
	}
	return l.run(), nil
}
