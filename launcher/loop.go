package launcher

import "time"

// machine does what step asks for. The real one is effects; tests have a fake with
// a fake clock.
type machine interface {
	// note sees every input before step does, to keep what step does not need.
	note(in input)

	// act does one action. Results of slow ones come as inputs later.
	act(a action)

	// close releases what is still held; the run is over.
	close()
}

// loop owns the state of a run: everything else sends it inputs.
type loop struct {
	state   state
	inputs  <-chan input
	signals <-chan Signal
	machine machine
	now     func() time.Time
}

// run takes inputs until the run is over and returns the exit code.
func (l *loop) run() int {
	l.step(inBegin{at: l.now()})
	for l.state.phase != phaseDone {
		select {
		case in := <-l.inputs:
			l.step(in)
		case sig := <-l.signals:
			l.step(inSignal{at: l.now(), signal: sig.Number, from: sig.From})
		}
	}
	// Not after a panic: closing waits for what may never end then.
	l.machine.close()
	return l.state.code
}

// step applies one input and does what follows from it.
func (l *loop) step(in input) {
	if in, ok := in.(inBug); ok {
		panic(in.bug)
	}
	l.machine.note(in)
	next, actions := step(l.state, in)
	l.state = next
	for _, a := range actions {
		l.machine.act(a)
	}
}
