package launcher

import (
	"context"
	"time"

	"lenslaunch/internal/proc"
)

// Run carries a plan out and returns the exit code. signals are those that the
// process receives; subscribers see every Event in order. Run returns when nothing
// that it started is left, and leaves the process's own environment as it was. It panics
// with a Bug where it has one: then the guard ends what is left.
func Run(p *Plan, console Console, signals <-chan Signal, subscribers ...Subscriber) (int, error) {
	defer settleThreads()()
	spawner, err := proc.NewSpawner()
	if err != nil {
		return ExitInternal, err
	}
	forest, err := newForest(p.Groups, spawner)
	if err != nil {
		spawner.Close()
		return ExitInternal, err
	}
	front := findFront(console, p.Output.Stdin)
	rules := p.rules(p.World)
	rules.foreground, rules.terminal = front.local, front.term != nil
	ctx, cancel := context.WithCancel(context.Background())
	inputs := make(chan input)
	l := loop{
		state:   state{rules: rules},
		inputs:  inputs,
		signals: signals,
		now:     time.Now,
		machine: &effects{
			plan: p, console: console, inputs: inputs, signals: signals, done: make(chan struct{}), teller: newTeller(subscribers),
			spawner: spawner, forest: forest, front: front, timers: map[timerKind]*time.Timer{}, ctx: ctx, cancel: cancel,
		},
	}
	return l.run(), nil
}
