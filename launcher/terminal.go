package launcher

import (
	"os"
	"os/exec"
	"syscall"
	"time"

	"lenslaunch/internal/proc"
	"lenslaunch/internal/tty"
)

// front is the terminal of a run: who has its foreground (the launch specification,
// "At a terminal").
//
// A rank that reads the terminal gets the foreground while the launcher has it to give:
// Ctrl-C and Ctrl-Z reach that rank directly. In all other cases the launcher's group
// keeps it, and passes on what it receives. Ranks other than that one have no
// controlling terminal at all.
type front struct {
	term      *tty.Terminal // nil: the console is not the terminal of our session
	local     int           // the rank that reads it, -1: none
	given     bool          // its group has the foreground from us
	suspended bool          // from suspend to resume
	halted    []*proc.Child // what suspend has stopped
}

// findFront looks at the console as the run begins.
func findFront(c Console, stdin int) front {
	if t, ok := tty.Of(c.In); ok {
		return front{term: t, local: stdin}
	}
	f := front{local: -1}
	for _, file := range c.files() {
		if t, ok := tty.Of(file); ok {
			f.term = t
			break
		}
	}
	return f
}

// detach gives a rank that has no claim to the terminal a session of its own: what
// tries /dev/tty there is told that there is none, and is not stopped (SIGTTIN,
// SIGTTOU) until somebody finds out.
func (f *front) detach(cmd *exec.Cmd, local int) {
	if local == f.local {
		return
	}
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Setsid = true
}

// give hands the foreground to the rank that reads the terminal, if it is ours. A
// launcher in the background of its shell has nothing to give.
func (f *front) give(c *proc.Child) {
	if c == nil || c.Ended() || !f.term.Mine() {
		return
	}
	if f.term.Give(c.Pid) == nil {
		f.given = true
	}
}

// take brings the foreground back, with the terminal's modes.
func (f *front) take() { f.retake(true) }

// over brings it back after the rank's end. One that ended well may have meant the
// modes that it leaves (`stty`).
func (f *front) over(exit proc.Exit) { f.retake(!exit.OK()) }

// retake leaves the foreground with a shell that has taken it meanwhile: it saw the
// launcher stopped. A terminal that has gone away cannot be taken; the run goes on all
// the same.
func (f *front) retake(restore bool) {
	if !f.given {
		return
	}
	if taken, err := f.term.Take(restore); taken || err != nil {
		f.given = false
	}
}

// offer deals with a rank that stopped because it did not have the foreground, if that
// can be mended at once: it was a moment too early, or the shell has made the job the
// foreground's without telling it.
func (f *front) offer(c *proc.Child, sig syscall.Signal) bool {
	if !wantsTerminal(sig) {
		return false
	}
	f.give(c)
	if group, err := f.term.Foreground(); err != nil || group != c.Pid {
		return false
	}
	// One that has ended needs nothing.
	_ = c.SignalGroup(syscall.SIGCONT)
	return true
}

// wantsTerminal reports whether a signal stops who uses the terminal from the
// background.
func wantsTerminal(sig syscall.Signal) bool { return sig == syscall.SIGTTIN || sig == syscall.SIGTTOU }

// frontChild is the rank that reads the terminal, nil if there is none or it does not
// run.
func (e *effects) frontChild() *proc.Child {
	if e.front.term == nil || e.front.local < 0 {
		return nil
	}
	return e.child(e.front.local)
}

// watchFront learns that the rank that reads the terminal was stopped: the shell must
// then see the whole job stopped.
func (e *effects) watchFront() {
	c := e.frontChild()
	if c == nil || c.Ended() || e.front.suspended {
		return
	}
	sig, err := c.Stopped()
	if err != nil || sig == 0 || e.front.offer(c, sig) {
		return
	}
	in := inStopped{at: time.Now(), attempt: e.current.number, local: e.front.local, signal: sig}
	e.background(func() { e.answer(in) })
}

// suspend stops the ranks and then this process, with its group if nobody else has told
// that: the script around the launcher and `| tee` behind it are the same job. It may
// return a moment before the process stops.
func (e *effects) suspend(group bool) {
	if e.front.term != nil && !continuable() {
		e.stay()
		return
	}
	e.front.suspended = true
	if e.current != nil && e.current.monitor != nil {
		e.current.monitor.tell(news{paused: true})
	}
	for local, c := range e.children() {
		// What its user has stopped is not ours to continue later. The rank at the
		// terminal was stopped with the job.
		if local == e.front.local || !standing(c) {
			e.halt(c)
		}
	}
	e.front.take()
	who := os.Getpid()
	if group {
		who = 0
	}
	// SIGSTOP and not SIGTSTP, which would come back to our own handler. Process 1 of a
	// container cannot stop; there only the ranks do.
	_ = syscall.Kill(who, syscall.SIGSTOP)
}

// stay undoes a suspension that nobody could end: the kernel, too, drops Ctrl-Z where
// there is no shell.
func (e *effects) stay() {
	if c := e.frontChild(); c != nil && e.front.given {
		// One that has ended needs nothing.
		_ = c.SignalGroup(syscall.SIGCONT)
	}
	e.background(func() { e.answer(inSignal{at: time.Now(), signal: syscall.SIGCONT}) })
}

// halt stops a rank until resume.
func (e *effects) halt(c *proc.Child) {
	if c.SignalGroup(syscall.SIGSTOP) == nil {
		e.front.halted = append(e.front.halted, c)
	}
}

// resume continues what suspend stopped. The rank that reads the terminal gets the
// foreground first if the shell has given it to us (fg), and nothing if not (bg).
func (e *effects) resume() {
	e.front.give(e.frontChild())
	for _, c := range e.front.halted {
		// One that has ended needs nothing.
		_ = c.SignalGroup(syscall.SIGCONT)
	}
	if e.front.suspended && e.current != nil && e.current.monitor != nil {
		e.current.monitor.tell(news{at: time.Now(), fresh: true})
	}
	e.front.suspended, e.front.halted = false, nil
}

// children are the processes of the attempt that were started, by local rank.
func (e *effects) children() map[int]*proc.Child {
	started := map[int]*proc.Child{}
	if e.current != nil {
		for local, c := range e.current.children {
			if c != nil {
				started[local] = c
			}
		}
	}
	return started
}

// standing reports whether a process is stopped.
func standing(c *proc.Child) bool {
	st, err := proc.ReadStat(c.Pid)
	return err == nil && st.ID == c.ID && st.State == 'T'
}

// continuable reports whether somebody could continue this process after Ctrl-Z: a
// shell with job control is above it in its session. POSIX calls the process group
// orphaned if not.
func continuable() bool {
	self, err := proc.ReadStat(os.Getpid())
	for st := self; err == nil; {
		if st.Parent == 0 {
			return false // process 1 of a container
		}
		if st, err = proc.ReadStat(st.Parent); err == nil && st.Group != self.Group {
			return st.Session == self.Session
		}
	}
	return true // nothing can be seen: Ctrl-Z does what it says
}
