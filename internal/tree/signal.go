package tree

import (
	"syscall"

	"lenslaunch/internal/proc"
)

// Signal sends sig to every process that lives of one rank's tree and returns how
// many took it: for the stop signal, once the leader that should have passed it on
// has died of it. A stopped process is continued, since it would not act otherwise.
func Signal(f Finder, local int, sig syscall.Signal) (sent int) {
	for _, st := range f.FindRank(local) {
		if send(st, sig) == nil {
			sent++
		}
	}
	return sent
}

func send(st proc.Stat, sig syscall.Signal) error {
	h, err := hold(st.ID)
	if err != nil {
		return err
	}
	defer h.Close()
	if err := h.Signal(sig); err != nil {
		return err
	}
	if st.State == 'T' && !stops(sig) {
		_ = h.Signal(syscall.SIGCONT) // whoever took the one takes the other, or is gone
	}
	return nil
}

// stops reports whether a signal is meant to leave a process stopped.
func stops(sig syscall.Signal) bool {
	switch sig {
	case 0, syscall.SIGSTOP, syscall.SIGTSTP, syscall.SIGTTIN, syscall.SIGTTOU:
		return true
	}
	return false
}
