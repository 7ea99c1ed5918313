package rundir

import (
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"time"

	"golang.org/x/sys/unix"
)

// BeginInfo is the identity of an attempt that is about to begin.
type BeginInfo struct {
	Name         string // empty: the next number; several nodes need one, see [UncoordinatedName]
	Number       int    // the launcher's: LENSLAUNCH_ATTEMPT
	UUID         string
	RestartCount *int64
	MasterAddr   string
	MasterPort   int
	At           time.Time         // zero: now
	Ranks        []RankInfo        // of this node
	Env          map[string]string // what the launcher sets for all ranks alike; others' variables are left out
	Warnings     []string
}

// RankInfo is a rank that is about to start.
type RankInfo struct {
	Rank, Local int
	Env         map[string]string // where it differs from rank to rank
}

// Begin makes the directory of the next attempt and enters the attempt in run.json;
// then ranks may start. Its number is one more than the highest there, and a directory
// that exists already, as after a crash, is never used again. An attempt that was named by the
// caller continues an existing directory.
//
// The error says that there is no directory, so no output can be kept. That run.json
// cannot be written is told to Options.Warn.
func (d *Dir) Begin(info BeginInfo) (*Attempt, error) {
	f, err := d.makeAttempt(info.Name)
	if err != nil {
		return nil, fmt.Errorf("cannot begin an attempt in %s: %w", d.Path(), err)
	}
	a := &Attempt{dir: d, name: filepath.Base(f.Name()), path: f.Name(), folder: f, streams: map[string]*streamState{}}
	d.admit(a)
	d.sys.step("attempt")
	_ = d.Update(func(r *Run) { r.Attempts = append(r.Attempts, r.record(info, a.Name(), d.sys.now())) })
	if err := d.home.link(d.fromHome(a.Name()), latestName, d.sys); err != nil {
		d.failed(fmt.Errorf("cannot write %s: %w", d.home.path(latestName), err))
	}
	return a, nil
}

// admit keeps the newest two attempts open: what the ranks of the last one wrote may
// still be on its way when the next begins.
func (d *Dir) admit(a *Attempt) {
	d.mu.Lock()
	d.attempts = append(d.attempts, a)
	old := d.attempts[:max(0, len(d.attempts)-2)]
	d.attempts = slices.Clone(d.attempts[len(old):])
	d.mu.Unlock()
	for _, a := range old {
		a.Close()
	}
}

// fromHome is an attempt as seen from where the link to it lies.
func (d *Dir) fromHome(name string) string {
	if d.home.File == d.root.File {
		return name
	}
	return path.Join("..", name)
}

// makeAttempt makes the directory: the named one, or the first free number.
func (d *Dir) makeAttempt(name string) (folder, error) {
	if name != "" {
		if !IsAttempt(name) {
			return folder{}, fmt.Errorf("%q is no name of an attempt", name)
		}
		f, _, err := d.root.sub(name)
		return f, err
	}
	if d.nodes > 1 {
		return folder{}, errors.New("over several nodes it needs a name that all of them know")
	}
	d.mu.Lock()
	n := d.run.next()
	d.mu.Unlock()
	for ; ; n++ {
		f, made, err := d.root.sub(UncoordinatedName(n, 0))
		if err != nil || made {
			return f, err
		}
		f.Close()
	}
}

// record is a new attempt as run.json has it.
func (r *Run) record(info BeginInfo, name string, now time.Time) AttemptRecord {
	if !info.At.IsZero() {
		now = info.At
	}
	a := AttemptRecord{
		Name: name, Number: info.Number, Invocation: r.Invocation, RunID: r.RunID,
		UUID: info.UUID, RestartCount: info.RestartCount, Host: r.Launcher.Host,
		MasterAddr: info.MasterAddr, MasterPort: info.MasterPort, Began: utc(now),
		Warnings: clipLines(info.Warnings, maxStderr), Env: ownVariables(info.Env),
	}
	for _, rank := range info.Ranks {
		a.Ranks = append(a.Ranks, RankRecord{Rank: rank.Rank, Local: rank.Local, Node: r.Node, Env: ownVariables(rank.Env)})
	}
	slices.SortStableFunc(a.Ranks, func(x, y RankRecord) int { return x.Rank - y.Rank })
	return a
}

// NextName is the name that [Dir.Begin] would give the next attempt of a run on one
// node. It changes nothing, and a directory that is not there is no error.
func NextName(dir string) (string, error) {
	var r Run
	text, err := readFile(filepath.Join(dir, runName), maxRunSize)
	if err == nil {
		err = decodeRun(text, &r)
	}
	if err != nil && !errors.Is(err, unix.ENOENT) {
		return "", &FileError{File: filepath.Join(dir, runName), Problem: err}
	}
	for n := r.next(); ; n++ {
		name := UncoordinatedName(n, 0)
		if _, err := os.Lstat(filepath.Join(dir, name)); err != nil {
			return name, nil
		}
	}
}
