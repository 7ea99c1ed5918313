package launcher

import (
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"time"

	"lenslaunch/internal/logmux"
	"lenslaunch/internal/proc"
)

// hookTime bounds --on-hang: a tool that dumps stacks of a stuck process can get stuck
// itself. It is less than dumpPatience, so that its signal still comes before the
// ladder.
const hookTime = 25 * time.Second

// dump runs the hook of a hung rank, then sends it the signal that was asked for, and
// answers with inDumped.
func (e *effects) dump(local int) {
	run, c := e.current, e.child(local)
	rank := e.plan.World.Rank(local)
	e.background(func() {
		if e.plan.Hang.Command != "" {
			e.runHook(run, rank, c.Pid)
		}
		if e.plan.Hang.Signal != 0 {
			// A rank that has ended meanwhile needs no signal.
			_ = c.Signal(e.plan.Hang.Signal)
		}
		e.answer(inDumped{at: time.Now(), attempt: run.number})
	})
}

// runHook runs --on-hang with PID and RANK in its environment; its output goes to the
// launcher's stderr. What goes wrong with it is said there and changes nothing.
func (e *effects) runHook(run *running, rank, pid int) {
	say := func(err error) {
		_, _ = fmt.Fprintf(e.console.Err, "lenslaunch: --on-hang for rank %d: %v\n", rank, err)
	}
	r, w, err := os.Pipe()
	if err != nil {
		say(err)
		return
	}
	cmd := exec.Command("/bin/sh", "-c", e.plan.Hang.Command)
	cmd.Env = append(os.Environ(), "PID="+strconv.Itoa(pid), "RANK="+strconv.Itoa(rank))
	cmd.Stdout, cmd.Stderr = w, w
	hook, err := e.spawner.Start(cmd)
	w.Close()
	if err != nil {
		r.Close()
		say(err)
		return
	}
	run.mux.Add(r, logmux.Stream{To: e.console.Err, Prefix: fmt.Sprintf("on-hang, rank %d: ", rank)})
	if exit := endHook(hook); !exit.OK() {
		say(fmt.Errorf("the command ended with %v", exit))
	}
}

// endHook waits for the hook, and ends it when its time is over.
func endHook(hook *proc.Child) proc.Exit {
	timer := time.AfterFunc(hookTime, func() { _ = hook.SignalGroup(syscall.SIGKILL) })
	defer timer.Stop()
	exit, err := hook.Wait()
	if err != nil {
		exit = proc.Exit{Code: ExitInternal}
	}
	_ = hook.SignalGroup(syscall.SIGKILL) // what it has left behind
	hook.Reap()
	return exit
}

// unobserve ends the attempt's monitor.
func (run *running) unobserve() {
	if run.monitor == nil {
		return
	}
	run.monitor.close()
	run.monitor = nil
	if run.sockets != "" {
		// Our own private directory; an empty rest of it would do no harm.
		_ = os.RemoveAll(run.sockets)
	}
}
