//go:build slurm && linux

package slurm

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// soon is how long a prompt end may take here: two cores, and several jobs at once.
const soon = 5 * time.Second

// taken lists the signals that a launcher has recorded in its run directory, as
// "SIGTERM stop".
func taken(t *testing.T, dir string) []string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "events.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for line := range strings.Lines(string(text)) {
		var e struct{ Event, Signal, Message string }
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		if e.Event == "signal_taken" {
			message, _, _ := strings.Cut(e.Message, ";")
			list = append(list, e.Signal+" "+message)
		}
	}
	return list
}

// stepOf starts a job of one step, two ranks on each of two nodes, whose run directory
// is dir/run. It is srun's own job: under proctrack/linuxproc the srun of a batch script
// gets the job's SIGTERM as well, and kills the step for it. Words before "--" are
// srun's, others the launcher's.
func (c *cluster) stepOf(h *hub, dir, mode string, words ...string) (*job, []*life) {
	h.t.Helper()
	srun := []string{"--kill-on-bad-exit=1"}
	if i := slices.Index(words, "--"); i >= 0 {
		srun, words = append(srun, words[:i]...), words[i+1:]
	}
	command := append(c.step(srun...), "--log-dir", dir+"/run", "--nproc", "2")
	command = append(append(command, words...), "--", c.home("rank"))
	j := c.start(h, []string{modeVariable + "=" + mode}, command...)
	return j, h.ranks(4)
}

// scancel JOB: SIGCONT and SIGTERM. Ranks have time, and the launcher does not leave
// before them.
func TestScancel(t *testing.T) {
	t.Parallel()
	c, h := sharedCluster(t), newHub(t)
	c.clean(h)
	dir := c.folder(t)
	j, list := c.stepOf(h, dir, "linger")
	c.must(h, "scancel", list[0].Env["SLURM_JOB_ID"])
	for _, l := range list {
		h.expect(l, "SIGTERM")
	}
	h.end(soon, list...)
	j.code()
	for _, node := range []string{"node-0", "node-1"} {
		if got := taken(t, filepath.Join(dir, "run", node)); !slices.Contains(got, "SIGTERM stop") {
			t.Errorf("%s has taken %q", node, got)
		}
	}
	c.wait(h, list[0].Env["SLURM_JOB_ID"])
	if state := c.state(h, list[0].Env["SLURM_JOB_ID"]); state != "CANCELLED" {
		t.Errorf("state %s", state)
	}
}

// Ranks without a handler die of Slurm's own SIGTERM, perhaps before the launcher has
// heard of it: they were stopped all the same, and none of them has failed.
func TestRanksWithoutAHandler(t *testing.T) {
	t.Parallel()
	c, h := sharedCluster(t), newHub(t)
	c.clean(h)
	dir := c.folder(t)
	j, list := c.stepOf(h, dir, "plain")
	c.must(h, "scancel", list[0].Env["SLURM_JOB_ID"])
	h.end(soon, list...)
	j.code()
	for _, node := range []string{"node-0", "node-1"} {
		text, err := os.ReadFile(filepath.Join(dir, "run", node, "events.jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(strings.TrimSpace(string(text)), "\n")
		if last := lines[len(lines)-1]; !strings.Contains(last, `"event":"run_ended"`) || !strings.Contains(last, `"exit_code":1,`) || !strings.Contains(last, `"outcome":"stopped"`) {
			t.Errorf("%s ended so: %s", node, last)
		}
	}
}

// Ranks that ignore SIGTERM end by the launcher's SIGKILL, three seconds before Slurm's.
func TestRanksThatIgnoreSIGTERM(t *testing.T) {
	t.Parallel()
	c, h := sharedCluster(t), newHub(t)
	c.clean(h)
	dir := c.folder(t)
	j, list := c.stepOf(h, dir, "deaf", "-v")
	c.must(h, "scancel", list[0].Env["SLURM_JOB_ID"])
	began := h.expect(list[0], "SIGTERM").at
	h.end(patience, list...)
	if took := time.Since(began); took < 4*time.Second {
		t.Errorf("they were given %v, of KillWait 8 s less 3", took)
	}
	j.code()
	text, err := os.ReadFile(filepath.Join(dir, "run", "node-0", "events.jsonl"))
	if err != nil || !strings.Contains(string(text), `"event":"run_ended"`) {
		t.Errorf("the launcher was killed before it was through: %v\n%s", err, tail(string(text)))
	}
	if !strings.Contains(j.out.String(), "stop timeout 5s from Slurm's KillWait 8s (scontrol show config)") {
		t.Errorf("the stop budget is not explained")
	}
}

// The time limit: SIGUSR1 before it, then SIGTERM, SIGCONT and SIGTERM within 20 ms. The
// second one is no hurry: ranks that need a second to save have it.
func TestTimeLimit(t *testing.T) {
	t.Parallel()
	c, h := sharedCluster(t), newHub(t)
	c.clean(h)
	dir := c.folder(t)
	j, list := c.stepOf(h, dir, "linger", "--time=1", "--signal=USR1@30", "--")
	for _, l := range list {
		h.expect(l, "SIGUSR1")
	}
	for _, l := range list {
		h.expect(l, "SIGTERM")
	}
	h.end(soon, list...)
	j.code()
	for _, node := range []string{"node-0", "node-1"} {
		got := taken(t, filepath.Join(dir, "run", node))
		if !slices.Contains(got, "SIGUSR1 forward") || !slices.Contains(got, "SIGTERM stop") || !slices.Contains(got, "SIGTERM ignored: already ending") {
			t.Errorf("%s has taken %q", node, got)
		}
	}
	c.wait(h, list[0].Env["SLURM_JOB_ID"])
	if state := c.state(h, list[0].Env["SLURM_JOB_ID"]); state != "TIMEOUT" {
		t.Errorf("state %s", state)
	}
}

// scancel --signal=USR1: the ranks get it and the job goes on.
func TestForwardedSignal(t *testing.T) {
	t.Parallel()
	c, h := sharedCluster(t), newHub(t)
	c.clean(h)
	dir := c.folder(t)
	j, list := c.stepOf(h, dir, "")
	c.must(h, "scancel", "--signal=USR1", list[0].Env["SLURM_JOB_ID"])
	for _, l := range list {
		h.expect(l, "SIGUSR1")
	}
	for _, l := range list {
		l.tell("exit 0")
	}
	if code := j.code(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	if got := taken(t, filepath.Join(dir, "run", "node-1")); !slices.Contains(got, "SIGUSR1 forward") {
		t.Errorf("taken %q", got)
	}
}

// A save request: all ranks of all nodes end well, and the step's code is 75.
func TestSaveRequest(t *testing.T) {
	t.Parallel()
	c, h := sharedCluster(t), newHub(t)
	c.clean(h)
	j, list := c.stepOf(h, c.folder(t), "save", "--save-signal", "USR1")
	c.must(h, "scancel", "--signal=USR1", list[0].Env["SLURM_JOB_ID"])
	h.end(soon, list...)
	if code := j.code(); code != 75 {
		t.Errorf("exit code %d", code)
	}
}

// Preemption with grace: SIGCONT and SIGTERM at its beginning, and the same twice more
// at its end, which nobody hears who has saved meanwhile.
func TestPreemption(t *testing.T) {
	t.Parallel()
	c, h := sharedCluster(t), newHub(t)
	c.clean(h)
	dir := c.folder(t)
	low := c.start(h, []string{modeVariable + "=deaf"}, "srun", "--quiet", "--partition=low", "--nodelist=n3", "--exclusive", "--nodes=1", "--ntasks=1",
		c.home("lenslaunch"), "--stop-timeout", "20s", "--log-dir", dir+"/run", "--nproc", "1", "--", c.home("rank"))
	list := h.ranks(1)
	high := c.start(h, nil, "srun", "--quiet", "--partition=high", "--nodelist=n3", "--exclusive", "--nodes=1", "--ntasks=1", "true")
	first := h.expect(list[0], "SIGTERM").at
	h.end(patience, list...)
	if took := time.Since(first); took < 4*time.Second {
		t.Errorf("gone %v after the first SIGTERM: there was no grace", took)
	}
	// Those of the end come together with SIGKILL: to a busy machine's process they may be one.
	if n := list[0].count("SIGTERM"); n < 2 {
		t.Errorf("%d SIGTERM", n)
	}
	low.code()
	if code := high.code(); code != 0 {
		t.Errorf("the job that preempted: %d", code)
	}
}

// One rank fails: with -K1 the peer's ranks are gone within a second, and srun's code is
// the failed rank's, not that of the launchers that were stopped.
func TestKillOnBadExit(t *testing.T) {
	t.Parallel()
	c, h := sharedCluster(t), newHub(t)
	c.clean(h)
	j := c.start(h, nil, append(c.step("--kill-on-bad-exit=1"), "--nproc", "2", "--", c.home("rank"))...)
	list := h.ranks(4)
	list[3].tell("exit 7")
	h.end(time.Minute, list[3])
	began := time.Now()
	h.end(time.Minute, list...)
	if took := time.Since(began); took > time.Second {
		t.Errorf("the peer's ranks live on for %v", took)
	}
	if list[0].count("SIGTERM") == 0 {
		t.Error("they were not asked")
	}
	if code := j.code(); code != 7 {
		t.Errorf("exit code %d", code)
	}
}

// What kills a step without a warning: scancel of the step, srun's --wait, and TERM,
// HUP or QUIT to srun. No rank lives on, also none that nobody could ask.
func TestStepsThatAreKilled(t *testing.T) {
	t.Parallel()
	c := sharedCluster(t)
	for name, kill := range map[string]func(h *hub, j *job, list []*life){
		"scancel JOB.STEP": func(h *hub, _ *job, list []*life) {
			c.must(h, "scancel", list[0].Env["SLURM_JOB_ID"]+"."+list[0].Env["SLURM_STEP_ID"])
		},
		"srun --wait": func(_ *hub, _ *job, list []*life) { list[0].tell("exit 0"); list[1].tell("exit 0") },
		"TERM":        func(_ *hub, j *job, _ []*life) { _ = j.cmd.Process.Signal(unix.SIGTERM) },
		"HUP":         func(_ *hub, j *job, _ []*life) { _ = j.cmd.Process.Signal(unix.SIGHUP) },
		"QUIT":        func(_ *hub, j *job, _ []*life) { _ = j.cmd.Process.Signal(unix.SIGQUIT) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHub(t)
			c.clean(h)
			j := c.start(h, []string{modeVariable + "=litter"}, append(c.step("--wait=1"), "--nproc", "2", "--", c.home("rank"))...)
			list := h.ranks(4)
			kill(h, j, list)
			h.end(30*time.Second, list...)
			j.code()
		})
	}
}

// USR1 and USR2 to srun are passed on.
func TestSignalsToSrun(t *testing.T) {
	t.Parallel()
	c, h := sharedCluster(t), newHub(t)
	c.clean(h)
	j := c.start(h, nil, append(c.step(), "--nproc", "1", "--", c.home("rank"))...)
	list := h.ranks(2)
	for _, sig := range []unix.Signal{unix.SIGUSR1, unix.SIGUSR2} {
		if err := j.cmd.Process.Signal(sig); err != nil {
			t.Fatal(err)
		}
		for _, l := range list {
			h.expect(l, unix.SignalName(sig))
		}
	}
	for _, l := range list {
		l.tell("exit 0")
	}
	if code := j.code(); code != 0 {
		t.Errorf("exit code %d", code)
	}
}
