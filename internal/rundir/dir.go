package rundir

import (
	"errors"
	"fmt"
	"strconv"
	"sync"

	"golang.org/x/sys/unix"
)

const (
	runName    = "run.json"
	latestName = "latest"
	nodePrefix = "node-"
)

// NodeName is the name, in the run directory of several nodes, of the one that has what is
// a node's own.
func NodeName(node int) string { return nodePrefix + strconv.Itoa(node) }

// Dir is a run directory that this process writes to. Its methods may be called from
// any goroutine.
type Dir struct {
	root   folder // DIR
	home   folder // where all but the attempts lies: DIR, or DIR/node-<k>
	lock   *lock
	events *eventLog
	saver  *saver
	sys    system
	nodes  int

	warning sync.Once
	warn    func(error)

	closing sync.Once
	closed  error

	mu       sync.Mutex
	run      Run
	attempts []*Attempt // that may be open
}

// Open makes a run directory or continues one, takes its lock, and says in run.json who
// writes now. Attempts without an end become ended unknown: their launcher is gone.
//
// The error is a [*HeldError] if another launcher writes there, a [*FileError] if
// run.json is not usable, and otherwise says what is in the way: the directory is a
// symbolic link, somebody else's, or not writable. What was there is as it was. A disk
// that is full is no error but Options.Warn's.
func Open(o Options) (*Dir, error) { return open(o, realSystem()) }

func open(o Options, sys system) (*Dir, error) {
	o, err := o.complete()
	if err != nil {
		return nil, fmt.Errorf("cannot use run directory: %w", err)
	}
	d := &Dir{sys: sys, nodes: o.Nodes, warn: o.Warn}
	if err = d.enter(o); err == nil {
		err = d.load()
	}
	if err != nil {
		d.leave()
		var held *HeldError
		var broken *FileError
		if errors.As(err, &held) || errors.As(err, &broken) {
			return nil, err // it names the directory
		}
		return nil, fmt.Errorf("cannot use run directory %s: %w", o.Dir, err)
	}
	d.begin(o)
	return d, nil
}

// enter opens the directories and takes the lock.
func (d *Dir) enter(o Options) (err error) {
	if d.root, err = makeFolder(o.Dir); err != nil {
		return err
	}
	d.home = d.root
	if o.Nodes > 1 {
		if d.home, _, err = d.root.sub(NodeName(o.Node)); err != nil {
			return err
		}
	}
	d.lock, err = acquire(d.home, holder{Launcher: o.Launcher, Since: d.sys.now().UTC().Round(0)}, d.sys)
	return err
}

// load reads what earlier launchers wrote.
func (d *Dir) load() error {
	text, err := d.home.read(runName, maxRunSize)
	if errors.Is(err, unix.ENOENT) {
		d.run.Invocation = -1
		return nil
	}
	if err == nil {
		err = decodeRun(text, &d.run)
	}
	if err != nil {
		return &FileError{File: d.home.path(runName), Problem: err}
	}
	return nil
}

// begin enters this launcher.
func (d *Dir) begin(o Options) {
	d.run.enter(o, d.sys.now())
	d.saver = newSaver(d.save)
	d.events = newEventLog(d.home, o.Node, d.sys)
	command := d.run.Command
	launcher := d.run.Launcher
	_ = d.Event(Event{Kind: RunBegan, RunID: o.Run.RunID, Command: &command, Launcher: &launcher})
	_ = d.Update(func(*Run) {})
}

// Path is the run directory, absolute.
func (d *Dir) Path() string { return d.root.Name() }

// NodePath is where this node's own files lie: the run directory, or node-<k> in it.
func (d *Dir) NodePath() string { return d.home.Name() }

// Close writes what is left to write and gives the directory free. The error says that
// the record is not complete. Calling it again does nothing.
func (d *Dir) Close() error {
	d.closing.Do(func() {
		d.closed = errors.Join(d.saver.close(), d.events.close())
		d.leave()
	})
	if d.closed != nil {
		return fmt.Errorf("cannot complete the record in %s: %w", d.home.Name(), d.closed)
	}
	return nil
}

// leave closes what is open, in any state.
func (d *Dir) leave() {
	d.mu.Lock()
	attempts := d.attempts
	d.attempts = nil
	d.mu.Unlock()
	for _, a := range attempts {
		a.Close()
	}
	if d.lock != nil {
		d.lock.close()
	}
	if d.home.File != nil && d.home.File != d.root.File {
		d.home.Close()
	}
	if d.root.File != nil {
		d.root.Close()
	}
}
