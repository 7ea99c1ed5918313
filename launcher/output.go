package launcher

import (
	"os"

	"lenslaunch/internal/logmux"
	"lenslaunch/internal/rundir"
)

// stdio is what a worker is given as its first three descriptors, and what becomes
// of our ends.
type stdio struct {
	in, out, err *os.File
	owned        []*os.File // closed here once the worker has its copies
	pipes        []pipe     // ours
	files        []output   // those that the worker writes itself: their sizes are its progress
	pulse        *logmux.Pulse
}

// pipe is our end of one, and what becomes of what comes out.
type pipe struct {
	read   *os.File
	which  rundir.Stream
	stream logmux.Stream
}

// close ends what is still ours after the start, or the failed start.
func (s *stdio) close() {
	for _, f := range s.owned {
		f.Close()
	}
	for _, p := range s.pipes {
		p.read.Close()
	}
}

// tailLines of stderr go into a failure report (the launch specification).
const tailLines = 20

// open prepares a worker's descriptors. A single rank whose output needs no line
// discipline gets the launcher's own: a terminal stays a terminal. A stream that only a
// file wants, as long as it gets, has the file itself: nothing is copied.
func (e *effects) open(run *running, w Worker) (*stdio, error) {
	s := &stdio{}
	if e.plan.Output.Stdin == w.Local && e.console.In != nil {
		s.in = e.console.In
	} else {
		null, err := os.Open(os.DevNull)
		if err != nil {
			return nil, err
		}
		s.in, s.owned = null, append(s.owned, null)
	}
	if e.direct() {
		s.out, s.err = e.console.OutFile, e.console.ErrFile
		return s, nil
	}
	var err error
	if s.out, err = e.connect(run, w, s, rundir.Out); err == nil {
		s.err, err = e.connect(run, w, s, rundir.Err)
	}
	if err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

// direct reports whether the only rank gets the launcher's own descriptors.
func (e *effects) direct() bool {
	return e.plan.World.LocalSize == 1 && e.plan.Output.Mode == OutputPlain && e.plan.Hang.Timeout == 0 && e.plan.RunDir == "" &&
		e.plan.Output.Shown(0, e.plan.World.Rank(0)) && e.console.OutFile != nil && e.console.ErrFile != nil
}

// connect returns the worker's end of one stream.
func (e *effects) connect(run *running, w Worker, s *stdio, which rundir.Stream) (*os.File, error) {
	if run.files != nil && !e.plan.onConsole(w) && e.plan.Logs.MaxSize == 0 {
		f, err := run.files.Output(w.Rank, which)
		if err == nil {
			s.owned, s.files = append(s.owned, f), append(s.files, newOutput(run.files.OutputPath(w.Rank, which), f))
			return f, nil
		}
		e.console.Dir.outputLost(w.Rank, err)
	}
	r, end, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	s.owned = append(s.owned, end)
	s.pipes = append(s.pipes, pipe{read: r, which: which, stream: e.stream(run, w, which)})
	return end, nil
}

// stream says what becomes of what a worker writes.
func (e *effects) stream(run *running, w Worker, which rundir.Stream) logmux.Stream {
	s := logmux.Stream{To: e.console.Out}
	if which == rundir.Err {
		s.To = e.console.Err
	}
	e.plan.label(&s, w, run.attempt)
	kept := e.keep(&s, run, w, which)
	// What no file keeps is shown even where --tee leaves it to the file.
	if kept && !e.plan.onConsole(w) || !e.plan.Output.Shown(w.Local, w.Rank) {
		s.To = nil
	}
	return s
}

// keep sends a stream to its file, and reports whether it has one.
func (e *effects) keep(s *logmux.Stream, run *running, w Worker, which rundir.Stream) bool {
	if run.files == nil {
		return false
	}
	file, err := run.files.Log(w.Rank, which, e.plan.Logs.MaxSize, e.plan.Logs.Keep)
	if err != nil {
		e.console.Dir.outputLost(w.Rank, err)
		return false
	}
	run.logsMu.Lock()
	run.logs = append(run.logs, file)
	run.logsMu.Unlock()
	s.File, s.Where, s.Holds = file, run.files.OutputPath(w.Rank, which), consoleHold
	s.FileLost = func(cause error) { e.console.Dir.outputLost(w.Rank, cause) }
	return true
}

// follow begins to read the pipes of a worker that runs.
func (run *running) follow(w Worker, s *stdio) {
	for _, p := range s.pipes {
		if p.which == rundir.Err {
			p.stream.Tail = &logmux.Tail{Lines: tailLines}
			run.tails[w.Local] = p.stream.Tail
		}
		p.stream.Pulse = s.pulse
		run.mux.Add(p.read, p.stream)
	}
	s.pipes = nil
}
