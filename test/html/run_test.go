//go:build html && linux

package html

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"lenslaunch/internal/proc"
	"lenslaunch/internal/rundir"
)

// ranks of the run.
const ranks = 8

// hostile is what a rank may say: markup, a control sequence, and a character that turns
// the direction of writing.
const hostile = "<script>document.title='taken over'</script><img src=x onerror=alert(1)> \x1b[31mred\x1b[0m \u202eback"

// worker is what the ranks execute, by attempt: in the first one rank 5 dies of a signal,
// in the second rank 3 fails, 2 with it and 6 after it, and 0 has ended well before.
const worker = `
echo "rank $RANK, attempt $1: step 1"
case $1$RANK in
05) sleep 0.6; printf '%s\n' "$HOSTILE" >&2; kill -SEGV $$ ;;
10) sleep 0.3; exit 0 ;;
13|12) sleep 1
	printf '%s\n' 'Traceback (most recent call last):' '  File "train.py", line 88, in <module>' \
		"RuntimeError: loss is NaN at step 1200 of rank $RANK" >&2
	exit 3 ;;
16) trap 'exit 1' TERM ;;
esac
while :; do sleep 60 & wait; done
`

// end is the end of a rank's process.
type end struct {
	rank int
	at   time.Time
	exit proc.Exit
}

// job is a run that records itself as the launcher does.
type job struct {
	*testing.T
	dir  *rundir.Dir
	rec  *rundir.Recorder
	pids [ranks]int
	from [ranks]time.Time
	ends chan end
}

// ranDirectory runs a job whose first attempt is restarted and whose second fails, and
// returns its run directory.
func ranDirectory(t *testing.T) string {
	t.Helper()
	d, err := rundir.Open(rundir.Options{
		Dir: filepath.Join(t.TempDir(), "run"), Launcher: rundir.Launcher{Version: "0.1.0"}, Warn: func(err error) { t.Error(err) },
		Run: rundir.RunInfo{
			RunID: "llama-7b-warmup", JobUUID: "6ba7b811-9dad-51d1-80b4-00c04fd430c8", Command: []string{"python", "train.py", "--lr", "3e-4"},
			Role: "trainer", WorldSize: ranks, Ranks: ranks, Why: []string{"8 local ranks: --nproc 8", "OMP_NUM_THREADS=4: 32 usable CPUs for 8 ranks"},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	j := &job{T: t, dir: d, rec: rundir.NewRecorder(d), ends: make(chan end, ranks)}
	j.attempt(0, []int{5}, &rundir.NextRecord{Restart: true, Delay: 800 * time.Millisecond, Reason: "restart 1 of 1"})
	j.attempt(1, []int{3, 2, 6}, &rundir.NextRecord{Reason: "1 of 1 restarts used"})
	j.rec.RunEnded(rundir.RunEnd{At: time.Now(), Outcome: rundir.OutcomeFailed, Code: 3})
	j.rec.Close()
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	return d.Path()
}

// attempt starts the ranks, waits for the failures that are to come without being asked
// for, stops the others, and records all of it. failed are the ranks that fail, the first
// one the cause.
func (j *job) attempt(number int, failed []int, next *rundir.NextRecord) {
	j.Helper()
	a := j.begin(number)
	for rank := range ranks {
		j.start(a, number, rank)
	}
	j.rec.RanksStarted(time.Now(), ranks)
	running := map[int]bool{}
	for rank := range ranks {
		running[rank] = true
	}
	unasked := map[int]bool{}
	for _, rank := range failed[:min(len(failed), 2)] {
		unasked[rank] = true
	}
	if number == 1 {
		unasked[0] = true // ends well
	}
	first := failed[0]
	var cause end
	for len(unasked) > 0 {
		e := <-j.ends
		delete(unasked, e.rank)
		delete(running, e.rank)
		if e.rank == first {
			cause = e
		}
		j.ended(e, "")
		if e.rank != 0 {
			j.rec.RankFailed(rundir.RankFailure{At: e.at, Rank: e.rank, Local: e.rank, Pid: j.pids[e.rank], Exit: e.exit, Why: "failed", First: e.rank == first})
		}
	}
	j.rec.StopBegan(time.Now(), "SIGTERM, after 15s SIGKILL", len(running))
	stopped := j.stop(running, failed)
	record := &rundir.CauseRecord{Rank: first, Local: first, Pid: j.pids[first], At: cause.at, Reason: reason(cause.exit)}
	record.SetExit(cause.exit)
	lines, err := a.Tail(first, rundir.Err, 20)
	if err != nil {
		j.Fatal(err)
	}
	record.Stderr = lines
	j.rec.AttemptEnded(rundir.AttemptEnd{
		At: time.Now(), Outcome: rundir.OutcomeFailed, Cause: record, Simultaneous: min(len(failed), 2), Failed: failed, Stopped: stopped, Next: next,
	})
}

func (j *job) begin(number int) *rundir.Attempt {
	j.Helper()
	at := time.Now()
	j.rec.AttemptPreparing(at)
	info := rundir.BeginInfo{
		Number: number, UUID: "2f1c3f5e-52a1-5a3e-9d6b-1a1f3a8d8f10", MasterAddr: "127.0.0.1", MasterPort: 23456 + number, At: at,
		Env: map[string]string{"WORLD_SIZE": fmt.Sprint(ranks), "MASTER_ADDR": "127.0.0.1", "OMP_NUM_THREADS": "4", "SECRET": "hidden"},
	}
	for rank := range ranks {
		info.Ranks = append(info.Ranks, rundir.RankInfo{Rank: rank, Local: rank, Env: map[string]string{"RANK": fmt.Sprint(rank)}})
	}
	a, err := j.dir.Begin(info)
	if err != nil {
		j.Fatal(err)
	}
	j.rec.AttemptBegan(rundir.AttemptStart{At: at, Name: a.Name(), Number: number, UUID: info.UUID})
	return a
}

func (j *job) start(a *rundir.Attempt, number, rank int) {
	j.Helper()
	cmd := exec.Command("sh", "-c", worker, "worker", fmt.Sprint(number))
	cmd.Env = append(os.Environ(), fmt.Sprintf("RANK=%d", rank), "HOSTILE="+hostile)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	out, errors := j.open(a.Output(rank, rundir.Out)), j.open(a.Output(rank, rundir.Err))
	defer out.Close()
	defer errors.Close()
	cmd.Stdout, cmd.Stderr = out, errors
	if err := cmd.Start(); err != nil {
		j.Fatal(err)
	}
	j.pids[rank], j.from[rank] = cmd.Process.Pid, time.Now()
	stat, err := proc.ReadStat(cmd.Process.Pid)
	if err != nil {
		j.Fatal(err)
	}
	j.rec.RankStarted(rundir.RankStart{At: j.from[rank], Rank: rank, Local: rank, Pid: cmd.Process.Pid, Start: stat.Start})
	go func() {
		_ = cmd.Wait()
		status := cmd.ProcessState.Sys().(syscall.WaitStatus)
		e := end{rank: rank, at: time.Now(), exit: proc.Exit{Code: max(status.ExitStatus(), 0)}}
		if status.Signaled() {
			e.exit = proc.Exit{Signal: status.Signal()}
		}
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // the sleeping child
		j.ends <- e
	}()
}

func (j *job) open(f *os.File, err error) *os.File {
	j.Helper()
	if err != nil {
		j.Fatal(err)
	}
	return f
}

// stop ends the ranks that run, and returns those that did not fail in doing so.
func (j *job) stop(running map[int]bool, failed []int) (stopped []int) {
	for rank := range running {
		_ = syscall.Kill(j.pids[rank], syscall.SIGTERM)
	}
	for len(running) > 0 {
		e := <-j.ends
		delete(running, e.rank)
		if slices.Contains(failed, e.rank) {
			j.ended(e, "")
			continue
		}
		j.ended(e, "stopped")
		stopped = append(stopped, e.rank)
	}
	return stopped
}

func (j *job) ended(e end, why string) {
	if why == "" {
		why = reason(e.exit)
	}
	j.rec.RankEnded(rundir.RankEnd{At: e.at, Rank: e.rank, Local: e.rank, Pid: j.pids[e.rank], Exit: e.exit, Reason: why, Uptime: e.at.Sub(j.from[e.rank])})
}

func reason(e proc.Exit) string {
	if e.Signal != 0 {
		return "signal"
	}
	return "exit"
}
