package runview

import (
	"fmt"
	"time"

	"lenslaunch/internal/rundir"
)

// began is when the runs of these tests began.
func began() time.Time { return time.Date(2025, 3, 4, 5, 6, 7, 0, time.UTC) }

// ptr is a number that is known.
func ptr[T any](v T) *T { return &v }

// failedRun is eight ranks on one node: rank 3 failed twice, and the others after it.
func failedRun() *Run {
	at := began()
	r := &Run{Dir: "runs/run-7", Run: rundir.Run{
		Schema: 1, RunID: "run-7", JobUUID: "c64a021a-aec6-59b0-919f-23a0ef9c179e",
		Command: rundir.Command{Program: "python3", Arguments: 4}, Role: "trainer",
		Nodes: 1, WorldSize: 8, Ranks: 8, Started: at, Ended: at.Add(92 * time.Second), Outcome: rundir.OutcomeFailed, ExitCode: ptr(3),
		Launcher: rundir.Launcher{Pid: 4000, Start: 77, Host: "gpu-01", Version: "lenslaunch 0.1.0"},
		Why:      []string{"8 local ranks: --nproc 8", "OMP_NUM_THREADS=4: 32 usable CPUs for 8 ranks"},
	}}
	first := failedAttempt(0, at.Add(time.Second), 41*time.Second)
	first.Next = &rundir.NextRecord{Restart: true, Delay: 800 * time.Millisecond, Reason: "restart 1 of 1"}
	second := failedAttempt(1, at.Add(45*time.Second), 46*time.Second)
	second.Cause.Message, second.Cause.Stderr = "", []string{"Traceback (most recent call last):", "  File \"train.py\", line 88, in <module>", "RuntimeError: loss is NaN"}
	second.Next = &rundir.NextRecord{Reason: "1 of 1 restarts used"}
	r.Attempts = []rundir.AttemptRecord{first, second}
	for _, a := range r.Attempts {
		r.Events = append(r.Events, rundir.Event{
			Time: a.Cause.At.Add(5 * time.Millisecond), Kind: rundir.StopBegan, Attempt: a.Name, Message: "SIGTERM, after 15s SIGKILL", Count: 5,
		})
	}
	return r
}

// failedAttempt is one in which rank 3 fails, 2 at the same time and 5 after them; the
// others are stopped, but for 0, which had ended well.
func failedAttempt(number int, from time.Time, length time.Duration) rundir.AttemptRecord {
	failure := from.Add(length - 2*time.Second)
	a := rundir.AttemptRecord{
		Name: fmt.Sprintf("attempt-%d", number), Number: number, UUID: "0f0e0d0c-0b0a-5908-8706-050403020100", Host: "gpu-01", RestartCount: ptr(int64(number)),
		MasterAddr: "127.0.0.1", MasterPort: 29400 + number, Began: from, Ended: from.Add(length), Outcome: rundir.OutcomeFailed,
		Cause: &rundir.CauseRecord{
			Rank: 3, Local: 3, Pid: 4103, At: failure, ExitCode: ptr(3), Reason: "exit",
			Message: "Traceback (most recent call last):\n  File \"train.py\", line 12, in step\n    raise ValueError('bad batch')\nValueError: bad batch",
		},
		Simultaneous: 2, Failed: []int{3, 2, 5}, Stopped: []int{1, 4, 6, 7},
		Env: map[string]string{"WORLD_SIZE": "8", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "29400"},
	}
	for rank := range 8 {
		r := rundir.RankRecord{
			Rank: rank, Local: rank, Pid: 4100 + rank, Start: 100, Started: from.Add(time.Duration(rank) * time.Millisecond),
			Ended: failure.Add(300 * time.Millisecond), Signal: "SIGTERM", Reason: "stopped", Env: map[string]string{"RANK": fmt.Sprint(rank)},
		}
		switch rank {
		case 0:
			r.Signal, r.ExitCode, r.Reason, r.Ended = "", ptr(0), "exit", failure.Add(-10*time.Second)
		case 2, 3:
			r.Signal, r.ExitCode, r.Reason, r.Ended = "", ptr(3), "exit", failure
		case 5:
			r.Signal, r.Reason, r.Ended = "SIGABRT", "signal", failure.Add(100*time.Millisecond)
		}
		a.Ranks = append(a.Ranks, r)
	}
	return a
}
