package runview

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"lenslaunch/internal/proc"
	"lenslaunch/internal/rundir"
)

// realRun is a run directory as a launcher writes it: this process is its launcher, and
// rank 0, too. Rank 1 has a process that is no more, rank 2 none yet. Then comes what the
// test records.
func realRun(t *testing.T, then func(*rundir.Recorder)) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "run")
	d, err := rundir.Open(rundir.Options{Dir: dir, Run: rundir.RunInfo{RunID: "run-7", Command: []string{"python3", "train.py"}, WorldSize: 3, Ranks: 3}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	a, err := d.Begin(rundir.BeginInfo{Ranks: []rundir.RankInfo{{Rank: 0}, {Rank: 1, Local: 1}, {Rank: 2, Local: 2}}})
	if err != nil {
		t.Fatal(err)
	}
	self, err := proc.ReadStat(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	r := rundir.NewRecorder(d)
	r.AttemptBegan(rundir.AttemptStart{At: time.Now(), Name: a.Name()})
	r.RankStarted(rundir.RankStart{At: time.Now().Add(-time.Minute), Pid: self.Pid, Start: self.Start})
	r.RankStarted(rundir.RankStart{At: time.Now().Add(-time.Minute), Rank: 1, Local: 1, Pid: self.Pid, Start: self.Start + 1})
	then(r)
	r.Close()
	if err := d.Update(func(*rundir.Run) {}); err != nil { // what was noted is written
		t.Fatal(err)
	}
	f, err := a.Output(0, rundir.Out)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString("step 1\nstep 2\n"); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestSample(t *testing.T) {
	dir := realRun(t, func(*rundir.Recorder) {})
	s := NewSampler(dir, func() map[int]int64 { return map[int]int64{os.Getpid(): 5 << 20, 1: 7} })
	shot, err := s.Sample()
	if err != nil {
		t.Fatal(err)
	}
	if shot.Head != "run-7: running" || !shot.Live || shot.Attempt != "attempt-0" || !strings.HasPrefix(shot.Launcher, "launcher pid ") || shot.Hosts || !shot.GPUs {
		t.Errorf("%+v", shot)
	}
	if len(shot.Rows) != 3 {
		t.Fatalf("%d rows", len(shot.Rows))
	}
	first := shot.Rows[0]
	if first.State != "running" || first.Memory <= 0 || first.CPU < 0 || first.GPU != 5<<20 || first.Up < 50*time.Second || shot.Last(0) != "step 2" {
		t.Errorf("%+v, last line %q", first, shot.Last(0))
	}
	// The pid is there, but it is not that process.
	if gone := shot.Rows[1]; gone.State != "gone" || gone.Memory >= 0 || gone.CPU >= 0 {
		t.Errorf("%+v", gone)
	}
	if idle := shot.Rows[2]; idle.State != "not started yet" || idle.Pid != 0 || idle.Up != 0 || shot.Last(2) != "" {
		t.Errorf("%+v", idle)
	}
}

// What ranks of another machine use cannot be seen, and their pids may be anybody's.
func TestSampleFromElsewhere(t *testing.T) {
	d := newDirectory(t)
	d.begin("attempt-0")
	d.run.Attempts[0].Ranks = []rundir.RankRecord{{Rank: 0, Pid: os.Getpid(), Started: began()}}
	d.save()
	shot, err := NewSampler(d.path, nil).Sample()
	if err != nil {
		t.Fatal(err)
	}
	if row := shot.Rows[0]; row.State != "running" || row.Memory >= 0 || row.CPU >= 0 {
		t.Errorf("%+v", row)
	}
}

func TestSampleOfAnEndedRun(t *testing.T) {
	dir := realRun(t, func(r *rundir.Recorder) {
		now := time.Now()
		r.RankEnded(rundir.RankEnd{At: now, Rank: 1, Local: 1, Exit: proc.Exit{Code: 3}, Reason: "exit"})
		r.AttemptEnded(rundir.AttemptEnd{At: now, Outcome: rundir.OutcomeFailed, Cause: &rundir.CauseRecord{Rank: 1}, Failed: []int{1}, Stopped: []int{0}, Simultaneous: 1})
		r.RunEnded(rundir.RunEnd{At: now, Outcome: rundir.OutcomeFailed, Code: 3})
	})
	shot, err := NewSampler(dir, nil).Sample()
	if err != nil {
		t.Fatal(err)
	}
	if shot.Live || shot.Head != "run-7: failed, exit code 3" {
		t.Errorf("%+v", shot)
	}
	for i, want := range []string{"stopped", "failed first: exit code 3", "no end recorded"} {
		if got := shot.Rows[i].State; got != want || shot.Rows[i].Memory >= 0 {
			t.Errorf("rank %d: %q, want %q", i, got, want)
		}
	}
}

func TestSampleOfNoRun(t *testing.T) {
	if _, err := NewSampler(t.TempDir(), nil).Sample(); err == nil {
		t.Error("no error")
	}
}

func TestLoad(t *testing.T) {
	dir := realRun(t, func(r *rundir.Recorder) { r.StopBegan(time.Now(), "SIGTERM, after 15s SIGKILL", 2) })
	run, err := Load(dir + "/")
	if err != nil {
		t.Fatal(err)
	}
	if run.Dir != dir || run.RunID != "run-7" || len(run.Events) != 1 || run.Events[0].Kind != rundir.StopBegan || run.Torn != nil {
		t.Errorf("%+v", run)
	}
	text := reportText(run, time.Now())
	for _, want := range []string{"run run-7: running\n", "  command     python3 and 1 argument\n", "stopping 2 ranks: SIGTERM, after 15s SIGKILL\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in:\n%s", want, text)
		}
	}
	if _, err := Load(t.TempDir()); err == nil {
		t.Error("no error for a directory that is none")
	}
}

// One node's file that cannot be read does not hide the others'.
func TestLoadWhatThereIs(t *testing.T) {
	d := newDirectory(t)
	d.run.Nodes = 2
	d.save()
	d.mkdir("node-1")
	d.write("node-1/run.json", "{")
	run, err := Load(d.path)
	if err != nil || run.Torn == nil || run.RunID != "run-7" {
		t.Errorf("%+v, %v", run, err)
	}
}
