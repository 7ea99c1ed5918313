package runview

import (
	"fmt"
	"path/filepath"
	"time"

	"lenslaunch/internal/rundir"
)

// Sampler looks at a run again and again.
type Sampler struct {
	Dir string

	// GPU is the GPU memory in use by pid, in bytes; nil: nobody to ask. It must not
	// take long.
	GPU func() map[int]int64

	run   reader
	meter meter
	last  lastLines
}

// NewSampler samples a run directory.
func NewSampler(dir string, gpu func() map[int]int64) *Sampler {
	return &Sampler{
		Dir: dir, GPU: gpu, run: reader{dir: dir, now: time.Now},
		meter: meter{read: func() ([]process, error) { return readProcesses("/proc") }},
	}
}

// Snapshot is a run at one moment.
type Snapshot struct {
	At       time.Time
	Head     string // "run-7: running"
	Restarts int
	Attempt  string // its name, empty: none has begun
	Since    time.Duration
	Launcher string
	Problem  string // why there is no newer one, empty: there is none newer
	Live     bool
	Hosts    bool // ranks run on several machines
	GPUs     bool // a rank's GPU memory is known
	Rows     []RankRow

	lines func(rank int) string
}

// RankRow is a rank in a Snapshot. Negative numbers are not known.
type RankRow struct {
	Rank, Pid   int
	Host, State string
	Fate        Fate
	Up          time.Duration
	CPU         float64 // of one CPU, in percent
	Memory, GPU int64   // in bytes
}

// Last is the last line of a rank. It is asked for the rows that are shown.
func (s Snapshot) Last(rank int) string {
	if s.lines == nil {
		return ""
	}
	return s.lines(rank)
}

// Sample looks at the run and, where its ranks run on this machine, at their processes.
func (s *Sampler) Sample() (Snapshot, error) {
	now := s.run.now()
	record, err := s.run.read()
	if err != nil {
		return Snapshot{}, err
	}
	run := &Run{Run: *record, Dir: filepath.Clean(s.Dir)}
	shot := Snapshot{
		At: now, Head: run.name() + ": " + run.verdict(), Restarts: run.restarts(), Live: run.Live(),
		Launcher: launcherWords(run), Since: run.end(now).Sub(run.Started),
	}
	if len(run.Attempts) == 0 {
		return shot, nil
	}
	a := run.Attempts[len(run.Attempts)-1]
	shot.Attempt = label(a)
	dir := filepath.Join(run.Dir, a.Name)
	shot.lines = func(rank int) string { return s.last.of(dir, rank) }
	// Without /proc the table is poorer, and says so by its gaps.
	_ = s.meter.look(now)
	s.rows(&shot, run, a)
	return shot, nil
}

func launcherWords(r *Run) string {
	if r.Launcher.Pid == 0 {
		return ""
	}
	text := fmt.Sprintf("launcher pid %d", r.Launcher.Pid)
	if r.Launcher.Host != "" {
		text += " on " + short(r.Launcher.Host, 60)
	}
	return text
}

func (s *Sampler) rows(shot *Snapshot, run *Run, a rundir.AttemptRecord) {
	var gpu map[int]int64
	if s.GPU != nil {
		gpu = s.GPU()
	}
	here, hosts := visible(run), run.hostsOf(a)
	all := fates(a)
	for i, r := range a.Ranks {
		row := RankRow{
			Rank: r.Rank, Pid: r.Pid, Host: short(hosts[r.Node], 30), Fate: all[i],
			State: stateWords(all[i], r), CPU: -1, Memory: -1, GPU: -1,
		}
		if !r.Started.IsZero() {
			end := r.Ended
			if end.IsZero() {
				end = run.attemptEnd(a, shot.At)
			}
			row.Up = end.Sub(r.Started)
		}
		if row.Fate == Running && r.Pid != 0 && here[r.Node] {
			s.measure(&row, r, gpu)
		}
		shot.GPUs = shot.GPUs || row.GPU >= 0
		shot.Hosts = shot.Hosts || len(shot.Rows) > 0 && row.Host != shot.Rows[0].Host
		shot.Rows = append(shot.Rows, row)
	}
}

// measure fills in what the rank's processes use.
func (s *Sampler) measure(row *RankRow, r rundir.RankRecord, gpu map[int]int64) {
	u, ok := s.meter.of(r.Pid, r.Start, row.Up)
	if !ok {
		row.State = "gone" // its end will be recorded in a moment
		return
	}
	row.CPU, row.Memory = u.cpu, u.memory
	switch u.state {
	case 'D':
		row.State = "in the kernel"
	case 'T', 't':
		row.State = "suspended"
	case 'Z', 'X':
		row.State = "ending"
	}
	for _, pid := range u.pids {
		if used, known := gpu[pid]; known {
			row.GPU = max(row.GPU, 0) + used
		}
	}
}

// visible says on which nodes pids mean something to us.
func visible(r *Run) map[int]bool {
	here := map[int]bool{r.Node: r.Launcher.State() != ""}
	for _, part := range r.parts() {
		here[part.Node] = part.Launcher.State() != ""
	}
	return here
}

// stateWords is what a rank does, or how it ended.
func stateWords(f Fate, r rundir.RankRecord) string {
	switch {
	case f == Running && r.Pid == 0:
		return "not started yet"
	case f == Running, f == Succeeded, f == Unstarted, f == Lost:
		return f.text().words
	case f == Stopped:
		return "stopped"
	case f == FailedFirst:
		return "failed first: " + ending(r.ExitCode, r.Signal, r.Reason)
	}
	return "failed: " + ending(r.ExitCode, r.Signal, r.Reason)
}
