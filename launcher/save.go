package launcher

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"syscall"
	"time"

	"lenslaunch/internal/proc"
)

// Save is a save request (the launch specification, --save-signal): the scheduler asks
// ranks to write a checkpoint and end, and whoever started the run to run it again.
type Save struct {
	Signal syscall.Signal // passed on to the ranks, 0: there is none
	Within time.Duration  // a request is answered by ranks that all exit 0 in this time
	Code   int            // exit code of a run that was saved
}

// saveTime is Within where --save-signal does not say.
const saveTime = 5 * time.Minute

// ParseSave reads SIG or SIG:D, as in USR2:10m.
func ParseSave(text string) (Save, error) {
	name, within, timed := strings.Cut(strings.TrimSpace(text), ":")
	sig, err := proc.ParseSignal(name)
	if err != nil {
		return Save{}, err
	}
	switch sig {
	case syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGALRM, syscall.SIGWINCH, syscall.SIGIO, syscall.SIGVTALRM:
	default:
		return Save{}, errors.New("the signal means something else to lenslaunch or its ranks: use USR1 or USR2")
	}
	s := Save{Signal: sig, Within: saveTime}
	if timed {
		if s.Within, err = time.ParseDuration(within); err != nil || s.Within <= 0 {
			return Save{}, fmt.Errorf("%q is no time for saving: write it as in USR2:10m", within)
		}
	}
	return s, nil
}

// saveRequest passes a save request on. Between two attempts nobody could save; a rank
// that starts later could be killed by it before its handler is there.
func (st *stepper) saveRequest(in inSignal) {
	if st.phase != phaseRunning || st.told != nil {
		st.tell(SignalTaken{At: in.at, Signal: in.signal, Action: "save request ignored: no attempt is running", From: in.from})
		return
	}
	st.asked = in.at
	st.tell(SignalTaken{At: in.at, Signal: in.signal, Action: actionSave, From: in.from})
	st.pass(in)
}

// saved reports whether all ranks have ended as the latest save request asked, in time.
// All of them are known to have exited 0.
func (s state) saved() bool {
	if s.asked.IsZero() {
		return false
	}
	for _, r := range s.ranks {
		if r.ended.Sub(s.asked) > s.save.Within {
			return false
		}
	}
	return true
}

// Passed are the signals to the launcher that are passed on while the job goes on.
func (c Config) Passed() []syscall.Signal {
	if c.Save.Signal == 0 || slices.Contains(c.Forward, c.Save.Signal) {
		return c.Forward
	}
	return append(slices.Clone(c.Forward), c.Save.Signal)
}
