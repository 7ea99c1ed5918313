package launcher

import (
	"os"
	"time"

	"lenslaunch/internal/proc"
)

// stepDaemon is the name of Slurm's process that starts a step's tasks on a node and
// answers for them.
const stepDaemon = "slurmstepd"

// fence watches the process of Slurm that this launcher is a task of. In a container
// with process numbers of its own it cannot be seen; then the step is ended by what
// Slurm does to the container.
func (e *effects) fence() {
	if !e.plan.World.InStep {
		return
	}
	id, ok := stepDaemonAbove()
	if !ok {
		return
	}
	handle, err := proc.Hold(id)
	if err != nil {
		return // it has ended since: init is our parent now, and would be watched for nothing
	}
	e.background(func() {
		defer handle.Close()
		if handle.Wait(e.ctx) == nil {
			e.answer(inStepGone{at: time.Now(), pid: id.Pid})
		}
	})
}

// stepDaemonAbove looks for it among the ancestors: between it and the launcher there
// may be a shell.
func stepDaemonAbove() (proc.ID, bool) {
	// The bound is for a /proc that changes while it is read.
	for pid, n := os.Getppid(), 0; pid > 1 && n < 64; n++ {
		st, err := proc.ReadStat(pid)
		if err != nil {
			break
		}
		if st.Comm == stepDaemon {
			return st.ID, true
		}
		pid = st.Parent
	}
	return proc.ID{}, false
}
