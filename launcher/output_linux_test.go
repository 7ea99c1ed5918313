package launcher

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"lenslaunch/internal/logmux"
	"lenslaunch/internal/rundir"
	"lenslaunch/ranks"
)

// kept is a run with a run directory.
type kept struct {
	*launched
	dir  *RunDir
	told *recording[string] // problems with the directory
}

// keep begins a run of n ranks that follow the script, with a run directory. Before it
// begins, prepare sees the plan.
func keep(t *testing.T, n int, script string, change func(*draft), prepare func(*Plan)) *kept {
	t.Helper()
	d := newDraft(t, n)
	l := newLaunched(t, d, script)
	d.Logs.Dir = filepath.Join(t.TempDir(), "run")
	if change != nil {
		change(d)
	}
	l.plan = d.plan(t)
	if prepare != nil {
		prepare(l.plan)
	}
	k := &kept{launched: l, told: newRecording[string]()}
	k.dir = openRunDir(t, l.plan, func(err error) { k.told.add(err.Error()) })
	if err := l.plan.PrepareLedger(); err != nil {
		t.Fatal(err)
	}
	console := l.console()
	console.Dir = k.dir
	l.begin(console)
	return k
}

// wait is launched.wait, after which the record is complete.
func (k *kept) wait() int {
	k.t.Helper()
	code := k.launched.wait()
	k.dir.Close()
	return code
}

// file is what the run directory has of a rank's stream in an attempt.
func (k *kept) file(attempt, name string) string {
	k.t.Helper()
	text, err := os.ReadFile(filepath.Join(k.plan.RunDir, attempt, name))
	if err != nil {
		k.t.Error(err)
	}
	return string(text)
}

// silent fails the test if something was told of the directory.
func (k *kept) silent() {
	k.t.Helper()
	if told := k.told.all(); len(told) > 0 {
		k.t.Errorf("told: %q", told)
	}
}

// toldOnce fails the test unless one problem was told, and it is this.
func (k *kept) toldOnce(what string) {
	k.t.Helper()
	if told := k.told.all(); len(told) != 1 || !strings.Contains(told[0], what) {
		k.t.Errorf("told %q, want once of %q", told, what)
	}
}

func none(int) bool { return false }

// sh makes a draft's ranks run a shell.
func sh(script string) func(*draft) {
	return func(d *draft) { d.Command = []string{"/bin/sh", "-c", script} }
}

// Who goes to the console, and who to a file, by copy or by its own descriptor.
func TestWhereOutputGoes(t *testing.T) {
	const script = `readlink /proc/self/fd/1; readlink /proc/self/fd/2 >&2`
	tests := []struct {
		name   string
		change func(*draft)
		own    [2]bool // by rank: its file is its descriptor
		shown  [2]bool
	}{
		{"all to both", func(*draft) {}, [2]bool{}, [2]bool{true, true}},
		{"none teed", func(d *draft) { d.Logs.Tee = none }, [2]bool{true, true}, [2]bool{}},
		{"one teed", func(d *draft) { d.Logs.Tee = func(l int) bool { return l == 1 } }, [2]bool{true, false}, [2]bool{false, true}},
		{"a cap", func(d *draft) { d.Logs.Tee, d.Logs.MaxSize = none, 1<<20 }, [2]bool{}, [2]bool{}},
		{"rank 0 shown", func(d *draft) { d.Output.Shown = func(_, r int) bool { return r == 0 } }, [2]bool{false, true}, [2]bool{true, false}},
		{"nobody shown", func(d *draft) { d.Output.Shown = func(int, int) bool { return false } }, [2]bool{true, true}, [2]bool{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			k := keep(t, 2, "-", func(d *draft) { sh(script)(d); tt.change(d) }, nil)
			if code := k.wait(); code != 0 {
				t.Errorf("exit code %d", code)
			}
			k.silent()
			for rank := range 2 {
				for stream, seen := range map[string]*recording[string]{"out": k.out.recording, "err": k.err.recording} {
					name := "rank-" + itoa(rank) + "." + stream
					text := k.file("attempt-0", name)
					if own := strings.TrimSpace(text) == filepath.Join(k.plan.RunDir, "attempt-0", name); own != tt.own[rank] || text == "" {
						t.Errorf("%s says that its descriptor is %q", name, text)
					}
					shown := slices.Contains(seen.all(), "["+itoa(rank)+"] "+strings.TrimSpace(text))
					if shown != tt.shown[rank] {
						t.Errorf("%s on the console: %v", name, shown)
					}
				}
			}
		})
	}
}

// A worker's descriptor appends, and knows nothing of how we opened it.
func TestFlagsOfAWorkersFile(t *testing.T) {
	k := keep(t, 1, "-", func(d *draft) { sh(`grep flags /proc/self/fdinfo/1`)(d); d.Logs.Tee = none }, nil)
	k.wait()
	text := k.file("attempt-0", "rank-0.out")
	var flags int
	for _, digit := range strings.TrimSpace(strings.TrimPrefix(text, "flags:")) {
		flags = flags<<3 | int(digit-'0')
	}
	if flags&syscall.O_APPEND == 0 || flags&syscall.O_NONBLOCK != 0 || flags&syscall.O_ACCMODE != syscall.O_WRONLY {
		t.Errorf("%q, flags %o", text, flags)
	}
}

// One rank with a run directory has pipes, so that its last words can be reported.
func TestSingleRankWithFiles(t *testing.T) {
	k := keep(t, 1, "0: say hello; err oops; exit 4", func(d *draft) { d.Output.Mode = OutputPlain }, nil)
	if code := k.wait(); code != 4 {
		t.Errorf("exit code %d", code)
	}
	if got := pick[AttemptEnded](k.events.all())[0].Evidence; got.Unseen || !slices.Equal(got.Stderr, []string{"oops"}) {
		t.Errorf("evidence %+v", got)
	}
	k.line("hello")
	if out, err := k.file("attempt-0", "rank-0.out"), k.file("attempt-0", "rank-0.err"); out != "hello\n" || err != "oops\n" {
		t.Errorf("files have %q and %q", out, err)
	}
}

// The last words of a rank that wrote them to its file itself.
func TestEvidenceFromAFile(t *testing.T) {
	k := keep(t, 2, "-", func(d *draft) {
		sh(`[ $RANK = 1 ] || exec sleep 600; i=0; while [ $i -lt 30 ]; do echo line $i; i=$((i+1)); done >&2; printf '\377\033[31m\n' >&2; exit 5`)(d)
		d.Logs.Tee = none
	}, nil)
	if code := k.wait(); code != 5 {
		t.Errorf("exit code %d", code)
	}
	e := pick[AttemptEnded](k.events.all())[0]
	if got := e.Evidence.Stderr; len(got) != tailLines || got[0] != "line 11" || got[19] != "\uFFFD\x1b[31m" {
		t.Errorf("evidence %q", got)
	}
	report := strings.Join(k.plan.Report(e), "\n")
	if strings.Contains(report, "\x1b") || !strings.Contains(report, "line 29") ||
		!strings.Contains(report, "logs: "+k.plan.RunDir+"/attempt-0, of this rank rank-1.out and .err") {
		t.Errorf("report:\n%s", report)
	}
}

// Every attempt has files of its own, and the error file of its ranks is among them.
func TestFilesOfAttempts(t *testing.T) {
	k := keep(t, 2, "1@0: error-file first; exit 3 | 0@0: hang | *: say again; exit 0", func(d *draft) {
		d.Policy.MaxRestarts, d.Policy.Delay = 1, 1
	}, nil)
	if code := k.wait(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	k.silent()
	if got := pick[AttemptEnded](k.events.all())[0].Evidence.Message; got != "first" {
		t.Errorf("message %q", got)
	}
	for name, want := range map[string]string{"rank-0.out": "again\n", "rank-1.out": "again\n"} {
		if got := k.file("attempt-1", name); got != want {
			t.Errorf("%s: %q", name, got)
		}
	}
	k.file("attempt-0", "rank-1.json") // it stays
	run, err := rundir.Read(k.plan.RunDir)
	if err != nil || len(run.Attempts) != 2 || run.Outcome != rundir.OutcomeSuccess {
		t.Fatalf("%+v, %v", run, err)
	}
	for _, a := range run.Attempts {
		for _, r := range a.Ranks {
			if r.Pid == 0 || r.Start == 0 || r.Ended.IsZero() {
				t.Errorf("%s: rank %+v", a.Name, r)
			}
		}
	}
}

// A cap holds, and the lines are whole.
func TestRotatedOutput(t *testing.T) {
	k := keep(t, 1, "-", func(d *draft) {
		sh(`i=1000; while [ $i -lt 2000 ]; do echo line $i; i=$((i+1)); done`)(d)
		d.Logs = Logs{Dir: d.Logs.Dir, MaxSize: 4096, Keep: 9, Tee: none}
	}, nil)
	k.wait()
	k.silent()
	text := k.file("attempt-0", "rank-0.out.2") + k.file("attempt-0", "rank-0.out.1") + k.file("attempt-0", "rank-0.out")
	if lines := strings.Count(text, "\n"); lines != 1000 || !strings.HasPrefix(text, "line 1000\n") || !strings.HasSuffix(text, "line 1999\n") {
		t.Errorf("%d lines", lines)
	}
	if len(k.out.all()) != 0 {
		t.Errorf("on the console: %q", k.out.all())
	}
}

// inTheWay puts a directory where rank 0's stdout should go. The attempt of nodes that do
// not talk to each other has a name that is known before.
func inTheWay(t *testing.T) (change func(*draft), prepare func(*Plan)) {
	change = func(d *draft) {
		d.World = ranks.World{Nodes: 2, NodeRank: 0, LocalSize: 1, MasterAddr: "127.0.0.1"}
		d.MasterPort = 29511
		d.Output.Mode = OutputPlain
	}
	prepare = func(p *Plan) {
		for _, dir := range []string{p.RunDir, p.RunDir + "/attempt-0", p.RunDir + "/attempt-0/rank-0.out"} {
			if err := os.Mkdir(dir, 0o700); err != nil {
				t.Fatal(err)
			}
		}
	}
	return change, prepare
}

// A file that cannot be opened costs the file, not the rank: what no file keeps is shown,
// even where it was to be in the file alone.
func TestOutputFileThatCannotBeOpened(t *testing.T) {
	for name, logs := range map[string]Logs{"teed": {}, "its own file": {Tee: none}, "a cap": {Tee: none, MaxSize: 1 << 20}} {
		t.Run(name, func(t *testing.T) {
			change, prepare := inTheWay(t)
			k := keep(t, 1, "0: say shown; err kept; exit 0", func(d *draft) {
				logs.Dir = d.Logs.Dir
				d.Logs = logs
				change(d)
			}, prepare)
			if code := k.wait(); code != 0 {
				t.Errorf("exit code %d", code)
			}
			k.toldOnce("cannot keep the output of rank 0")
			k.line("shown")
			if shown := slices.Contains(k.err.all(), "kept"); shown != (logs.Tee == nil) {
				t.Errorf("stderr, which has a file, on the console: %v", shown)
			}
			if got := k.file("attempt-0", "rank-0.err"); got != "kept\n" {
				t.Errorf("stderr: %q", got)
			}
		})
	}
}

// What was not to be shown at all is not shown for want of a file.
func TestHiddenOutputStaysHidden(t *testing.T) {
	change, prepare := inTheWay(t)
	k := keep(t, 1, "0: say secret; exit 0", func(d *draft) {
		change(d)
		d.Output.Shown = func(int, int) bool { return false }
	}, prepare)
	if code := k.wait(); code != 0 || len(k.out.all()) != 0 {
		t.Errorf("exit code %d, console %q", code, k.out.all())
	}
	k.toldOnce("cannot keep the output of rank 0")
}

// A run directory that goes in the middle costs what was in it. The run restarts, counts
// on, and the console shows what no file keeps.
func TestRunDirectoryThatGoes(t *testing.T) {
	k := keep(t, 1, "-", func(d *draft) {
		sh(`echo try $LENSLAUNCH_ATTEMPT; [ $LENSLAUNCH_ATTEMPT != 0 ] || { rm -rf "$LENSLAUNCH_RUN_DIR"; exit 3; }`)(d)
		d.Policy.MaxRestarts, d.Policy.Delay, d.Logs.Tee = 1, 1, none
	}, nil)
	if code := k.wait(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	k.line("[0] try 1")
	if told := k.told.all(); len(told) != 1 {
		t.Errorf("told %q", told)
	}
	began := pick[AttemptBegan](k.events.all())
	if len(began) != 2 || began[1].Attempt.Number != 1 || began[1].Attempt.UUID == began[0].Attempt.UUID || began[1].Attempt.Name != "" {
		t.Fatalf("attempts %+v", began)
	}
	if !slices.ContainsFunc(began[1].Warnings, func(w string) bool { return strings.Contains(w, "on the console only") }) {
		t.Errorf("warnings %q", began[1].Warnings)
	}
}

// The record does not wait for whoever shows the messages.
func TestRecordBesideASubscriberThatIsStuck(t *testing.T) {
	d := newDraft(t, 1)
	l := newLaunched(t, d, "0: gate here; hang")
	d.Logs.Dir = t.TempDir()
	d.Stop.Kill = 0
	l.plan = d.plan(t)
	dir := openRunDir(t, l.plan, nil)
	l.gate("here")
	stuck, over := make(chan struct{}), make(chan int, 1)
	go func() {
		code, err := Run(l.plan, Console{Out: logmux.NewSink(l.out, nil), Err: logmux.NewSink(l.err, nil), Dir: dir}, l.signals,
			func(Event) { <-stuck })
		if err != nil {
			t.Error(err)
		}
		over <- code
	}()
	l.open("here")
	l.signal(syscall.SIGTERM) // at a normal end the messages have half a minute
	if code := <-over; code != 143 {
		t.Errorf("exit code %d", code)
	}
	dir.Close()
	close(stuck)
	run, err := rundir.Read(l.plan.RunDir)
	if err != nil || run.Outcome != rundir.OutcomeStopped || run.ExitCode == nil || *run.ExitCode != 143 {
		t.Errorf("run %+v, %v", run, err)
	}
}

// A rank that writes its files itself is judged by them, each attempt anew.
func TestHangOfARankThatWritesItsOwnFiles(t *testing.T) {
	k := keep(t, 1, "*: say a word; hang", func(d *draft) {
		d.Logs.Tee, d.Hang.Timeout, d.Policy.MaxRestarts, d.Policy.Delay = none, 300*time.Millisecond, 1, 1
	}, nil)
	if code := k.wait(); code != 143 {
		t.Errorf("exit code %d", code)
	}
	k.silent()
	ended := pick[AttemptEnded](k.events.all())
	if len(ended) != 2 {
		t.Fatalf("%d attempts", len(ended))
	}
	for i, e := range ended {
		if f := e.Faults[0]; f.Silent < 300*time.Millisecond {
			t.Errorf("attempt %d: %+v", i, f)
		}
		if got := k.file("attempt-"+itoa(i), "rank-0.out"); got != "a word\n" {
			t.Errorf("attempt %d: %q", i, got)
		}
	}
}
