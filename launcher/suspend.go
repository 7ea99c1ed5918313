package launcher

import (
	"syscall"
	"time"
)

// suspend stops the job until SIGCONT. Only the first of several requests counts:
// schedulers repeat themselves, and the second is read when the job has been continued.
func (st *stepper) suspend(in inSignal, group bool) {
	if !st.suspended.IsZero() {
		st.tell(SignalTaken{At: in.at, Signal: in.signal, Action: "ignored: already suspended", From: in.from})
		return
	}
	st.suspended = in.at
	st.tell(SignalTaken{At: in.at, Signal: in.signal, Action: "suspend", From: in.from})
	st.do(doSuspend{group: group})
}

// resume is SIGCONT. Alone it is information: schedulers send it before SIGTERM.
func (st *stepper) resume(in inSignal) {
	st.tell(SignalTaken{At: in.at, Signal: in.signal, Action: "resume", From: in.from})
	if st.suspended.IsZero() {
		// The launcher may have been stopped by others, and the shell may have made it
		// the foreground's.
		st.do(doResume{})
		return
	}
	st.lift(in.at)
}

// lift ends a suspension, also without SIGCONT when the job is told to end: a rank that
// stands still cannot save. The time in which ranks stood still is not taken from the
// time that they have to stop.
func (st *stepper) lift(at time.Time) {
	if st.suspended.IsZero() {
		return
	}
	st.begin = st.begin.Add(at.Sub(st.suspended))
	st.suspended = time.Time{}
	st.do(doResume{})
	if st.phase == phaseStopping {
		st.nextRung(at)
	}
}

// frontStopped is the stop of the rank that reads the terminal, by Ctrl-Z or by the
// kernel because it reads from the background: that suspends the job, as it would
// without a launcher. A rank that is being stopped for good and only tidies up the
// terminal does not.
func (st *stepper) frontStopped(in inStopped) {
	tidies := st.phase == phaseStopping && wantsTerminal(in.signal)
	if in.attempt == st.attempt && st.ranks[in.local].phase == rankRunning && !tidies {
		st.suspend(inSignal{at: in.at, signal: in.signal}, true)
	}
}

// interrupted reports whether the rank that has the terminal died of what only the
// terminal sends: Ctrl-C, Ctrl-\ or a hang-up. Then the user has ended the job.
func (st *stepper) interrupted(in inExited) bool {
	if in.local != st.foreground {
		return false
	}
	switch in.exit.Signal {
	case syscall.SIGINT, syscall.SIGQUIT, syscall.SIGHUP:
		return true
	}
	return false
}
