package runview

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"lenslaunch/internal/rundir"
)

// Wait waits until something below these directories may have changed, or ctx ends.
type Wait func(ctx context.Context, dirs []string)

// Follow writes what there is and what comes, also that of attempts that begin
// meanwhile, until the run has ended and all is written; or until ctx ends, which is no
// error. It returns the run's last state. An attempt that has not begun is waited for as
// long as it may still come.
func (l *Logs) Follow(ctx context.Context, wait Wait) (*rundir.Run, error) {
	p := l.printer()
	records := reader{dir: l.Dir, now: l.Now}
	open, told := map[string]*output{}, map[string]bool{}
	defer func() {
		for _, o := range open {
			o.close()
		}
	}()
	for {
		// First the records, then the output: what was written before an end is read
		// before it is believed.
		run, err := records.read()
		if err != nil {
			return nil, err
		}
		p.world = max(run.WorldSize, run.Ranks)
		dirs := []string{l.Dir}
		attempts := l.attempts(run)
		for _, a := range attempts {
			if told[a.Name] {
				continue
			}
			final := over(a) || ended(run)
			if err := l.step(p, open, a, run, final); err != nil {
				return nil, err
			}
			told[a.Name] = final
			dirs = append(dirs, filepath.Join(l.Dir, a.Name))
		}
		if err := p.flush(); err != nil {
			return nil, err
		}
		if ended(run) && l.Attempt != "" && len(attempts) == 0 {
			return nil, &NoAttempt{Dir: l.Dir, Name: l.Attempt}
		}
		if ended(run) || l.Attempt != "" && told[l.Attempt] {
			return run, nil
		}
		if wait(ctx, dirs); ctx.Err() != nil {
			return run, nil
		}
	}
}

// step writes what is new of one attempt, and closes it after the last.
func (l *Logs) step(p *printer, open map[string]*output, a rundir.AttemptRecord, run *rundir.Run, final bool) error {
	o := open[a.Name]
	if o == nil {
		p.announce(a, run)
		o = newOutput(l.Dir, a.Name)
		open[a.Name] = o
	}
	if err := o.pass(p, final); err != nil {
		return fmt.Errorf("%s: %w", a.Name, err)
	}
	if final {
		o.close()
		delete(open, a.Name)
	}
	return nil
}

// ended reports whether nothing more will come.
func ended(run *rundir.Run) bool {
	return run.Outcome != "" && run.Outcome != rundir.OutcomeRunning
}

// Ending is a run's name and how it ended, in one line.
func Ending(run *rundir.Run, dir string) string {
	r := &Run{Run: *run, Dir: filepath.Clean(dir)}
	return "run " + r.name() + " " + r.verdict()
}

// reader reads a run's records again once they have changed.
type reader struct {
	dir   string
	now   func() time.Time
	files map[string]os.FileInfo
	at    time.Time
	run   *rundir.Run
}

// readAgain is after which time a run is read although nothing has changed: a launcher
// that was killed changes nothing.
const readAgain = 2 * time.Second

func (r *reader) read() (*rundir.Run, error) {
	files := r.stat()
	if r.run != nil && r.now().Sub(r.at) < readAgain && same(files, r.files) {
		return r.run, nil
	}
	run, err := rundir.Read(r.dir)
	if run == nil {
		return nil, err
	}
	r.run, r.files, r.at = run, files, r.now()
	return run, nil
}

func (r *reader) stat() map[string]os.FileInfo {
	files := map[string]os.FileInfo{}
	for _, pattern := range []string{"run.json", "node-*/run.json"} {
		// The patterns are right; a directory whose name is one itself has no nodes here.
		paths, _ := filepath.Glob(filepath.Join(r.dir, pattern))
		for _, path := range paths {
			if info, err := os.Stat(path); err == nil {
				files[path] = info
			}
		}
	}
	return files
}

func same(a, b map[string]os.FileInfo) bool {
	if len(a) != len(b) {
		return false
	}
	for path, info := range a {
		other := b[path]
		if other == nil || !os.SameFile(info, other) || !info.ModTime().Equal(other.ModTime()) || info.Size() != other.Size() {
			return false
		}
	}
	return true
}
