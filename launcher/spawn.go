package launcher

import (
	"errors"
	"fmt"
	"maps"
	"os/exec"
	"slices"
	"syscall"
	"time"

	"lenslaunch/carrier"
	"lenslaunch/internal/placement"
	"lenslaunch/internal/proc"
)

// spawn starts the ranks one after the other, each inside its own publication of
// the carrier, and tells of each. It runs beside the loop: a rank that ends, or a
// signal, is handled while later ranks are still being started.
func (e *effects) spawn(number int) {
	run := e.current
	e.background(func() {
		defer func() { e.answer(inSpawned{at: time.Now(), attempt: number}) }()
		for local := range run.children {
			select {
			case <-run.abort:
				return
			default:
			}
			// Before it exists: one that ends at once must not end before it started.
			at := time.Now()
			child, err := e.start(run, local)
			if err != nil {
				e.answer(inNotStarted{at: time.Now(), attempt: number, local: local, cause: err})
				return
			}
			e.answer(inStarted{at: at, attempt: number, local: local, pid: child.Pid, start: child.Start, child: child})
		}
	})
}

// start starts one rank.
func (e *effects) start(run *running, local int) (*proc.Child, error) {
	w, err := e.plan.Worker(local, run.attempt)
	if err != nil {
		return nil, err
	}
	// Its directory may have gone since the plan: the kernel would say "no such file"
	// and mean that, not COMMAND.
	if err := checkDir(w.Dir); err != nil {
		return nil, err
	}
	run.traced.enter(w, e.plan)
	files, err := e.open(run, w)
	if err != nil {
		return nil, shortage(err)
	}
	defer files.close()
	watched, err := run.watch(w, files)
	if err != nil {
		return nil, shortage(err)
	}
	var child *proc.Child
	err = carrier.Publish(e.ctx, w.Carrier, func(scope *carrier.Scope) error {
		cmd := &exec.Cmd{
			Path: e.plan.program, Args: e.plan.Command, Dir: w.Dir, Env: w.environ(scope.Environ()),
			Stdin: files.in, Stdout: files.out, Stderr: files.err,
		}
		if err := run.trees.enter(cmd, local); err != nil {
			return err
		}
		e.front.detach(cmd, local)
		child, err = e.spawner.StartBound(cmd, e.plan.bind(local))
		return err
	})
	if err != nil {
		return nil, shortage(err)
	}
	run.follow(w, files)
	if watched != nil {
		run.monitor.tell(news{local: local, at: time.Now(), begin: watched})
	}
	return child, nil
}

// shortage adds to the error of a start which limit was reached, where that is known.
func shortage(err error) error {
	for errno, what := range map[syscall.Errno]string{
		syscall.EAGAIN: "no more processes: ulimit -u, or the limit of the container",
		syscall.EMFILE: "no more open files in this process: ulimit -n",
		syscall.ENFILE: "no more open files on this machine: fs.file-max",
		syscall.ENOMEM: "no memory",
	} {
		if errors.Is(err, errno) {
			return fmt.Errorf("%w (%s)", err, what)
		}
	}
	return err
}

// bind puts the thread that starts a rank in the rank's place, from where it goes on.
func (p *Plan) bind(local int) func() (func(), error) {
	return func() (func(), error) {
		restore, err := placement.Apply(p.bindings[local])
		if err != nil {
			return nil, err
		}
		// A thread that cannot be put back ends with the run; the next rank binds it
		// anew, so nothing depends on it.
		return func() { _ = restore() }, nil
	}
}

// watch prepares a rank for the monitor, where there is one.
func (run *running) watch(w Worker, files *stdio) (*watched, error) {
	if run.monitor == nil {
		return nil, nil
	}
	env, watched, err := run.monitor.prepare(w.Local, w.Rank)
	if err != nil {
		return nil, err
	}
	maps.Copy(w.Set, env)
	files.pulse, watched.outputs = watched.pulse, files.files
	return watched, nil
}

// environ is the worker's environment: the launcher's own, with the carrier
// published in it, less and plus what the launcher decides. Entries keep their
// order; those that are set come last.
func (w Worker) environ(base []string) []string {
	drop := make(map[string]bool, len(w.Unset)+len(w.Set))
	for _, key := range w.Unset {
		drop[key] = true
	}
	for key := range w.Set {
		drop[key] = true
	}
	env := make([]string, 0, len(base)+len(w.Set))
	for _, entry := range base {
		if !drop[keyOf(entry)] {
			env = append(env, entry)
		}
	}
	keys := make([]string, 0, len(w.Set))
	for key := range w.Set {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	for _, key := range keys {
		env = append(env, key+"="+w.Set[key])
	}
	return env
}

// keyOf is the name in an environment entry.
func keyOf(entry string) string {
	for i := range entry {
		if entry[i] == '=' {
			return entry[:i]
		}
	}
	return entry
}
