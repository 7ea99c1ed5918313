package cli

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"lenslaunch/internal/logmux"
	"lenslaunch/internal/rundir"
)

// runDirectory is one that is being written, of one rank that has said a line.
func runDirectory(t *testing.T) string {
	t.Helper()
	dir, _ := liveDirectory(t)
	return dir
}

func liveDirectory(t *testing.T) (string, *rundir.Recorder) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "run")
	d, err := rundir.Open(rundir.Options{Dir: dir, Run: rundir.RunInfo{RunID: "run-7", WorldSize: 2, Ranks: 2}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	a, err := d.Begin(rundir.BeginInfo{Ranks: []rundir.RankInfo{{Rank: 0}}})
	if err != nil {
		t.Fatal(err)
	}
	r := rundir.NewRecorder(d)
	t.Cleanup(r.Close)
	r.AttemptBegan(rundir.AttemptStart{At: time.Now(), Name: a.Name()})
	if err := os.WriteFile(a.OutputPath(0, rundir.Out), []byte("step 1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir, r
}

// until waits for a text in what is written.
type until struct {
	text  bytes.Buffer
	want  string
	found chan struct{}
}

func (u *until) Write(p []byte) (int, error) {
	before := strings.Contains(u.text.String(), u.want)
	u.text.Write(p)
	if !before && strings.Contains(u.text.String(), u.want) {
		close(u.found)
	}
	return len(p), nil
}

// A live run is followed by what the file system tells, to its end.
func TestFollowALiveRun(t *testing.T) {
	others := goleak.IgnoreCurrent()
	t.Cleanup(func() { goleak.VerifyNone(t, others) }) // after the directory is closed
	dir, recorder := liveDirectory(t)
	c := &call{std: Streams{Out: file(t, t.TempDir(), "out"), Err: file(t, t.TempDir(), "err")}}
	l, err := c.readLogs(dir, given(t, nil))
	if err != nil {
		t.Fatal(err)
	}
	out := &until{want: "[0] step 1\n", found: make(chan struct{})}
	l.Out = out
	failed := make(chan error, 1)
	go func() { failed <- c.follow(l) }()
	<-out.found
	f, err := os.OpenFile(filepath.Join(dir, "attempt-0", "rank-0.out"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString("step 2\nno end"); err != nil {
		t.Fatal(err)
	}
	recorder.AttemptEnded(rundir.AttemptEnd{At: time.Now(), Outcome: rundir.OutcomeSuccess})
	recorder.RunEnded(rundir.RunEnd{At: time.Now(), Outcome: rundir.OutcomeSuccess})
	if err := <-failed; err != nil {
		t.Fatal(err)
	}
	if got := out.text.String(); got != "[0] step 1\n[0] step 2\n[0] no end\n" {
		t.Errorf("%q", got)
	}
	if got := content(t, c.std.Err); got != "lenslaunch: run run-7 succeeded\n" {
		t.Errorf("%q", got)
	}
}

func TestRankSet(t *testing.T) {
	pick, err := text(" 0, 3-5,9").rankSet()
	if err != nil {
		t.Fatal(err)
	}
	var got []int
	for rank := range 12 {
		if pick(rank) {
			got = append(got, rank)
		}
	}
	if diff := cmp.Diff([]int{0, 3, 4, 5, 9}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for _, bad := range []string{"", "a", "1-", "-1", "2-1", "1,,2", "1-2-3", "99999999999"} {
		if _, err := text(bad).rankSet(); err == nil {
			t.Errorf("%q is taken", bad)
		}
	}
}

func TestAttemptName(t *testing.T) {
	dir := runDirectory(t)
	for given, want := range map[string]string{
		"0": "attempt-0", " 12 ": "attempt-12", "attempt-3": "attempt-3", "2-st4": "attempt-2-st4", "latest": "attempt-0",
	} {
		if got, err := attemptName(dir, text(given)); got != want || err != nil {
			t.Errorf("%q: %q, %v, want %q", given, got, err, want)
		}
	}
	for _, bad := range []string{"", "x", "-1", "00", "../attempt-0", "0/../.."} {
		if got, err := attemptName(dir, text(bad)); err == nil {
			t.Errorf("%q is %q", bad, got)
		}
	}
}

// The prefix is the console's; colours are for terminals, and not for all of those.
func TestLogPrefix(t *testing.T) {
	c := &call{std: Streams{Out: file(t, t.TempDir(), "out")}}
	first, further := c.prefix()(3, 16)
	if first != "[ 3] " || further != "[ 3]+ " {
		t.Errorf("%q, %q", first, further)
	}
	if first, further := c.prefix()(0, 1); first != "" || further != "" {
		t.Errorf("one rank has the prefix %q, %q", first, further)
	}
}

// With colours, too: they are those by which somebody who watched knows the ranks.
func TestLogPrefixHasTheConsolesColours(t *testing.T) {
	template, err := logmux.ParseTemplate(logmux.DefaultTemplate)
	if err != nil {
		t.Fatal(err)
	}
	for rank := range 16 {
		var s logmux.Stream
		template.Label(&s, logmux.Place{Rank: rank, World: 16})
		want, wantMore := logmux.Painted(s.Prefix, rank+1), logmux.Painted(s.Continuation, rank+1)
		if first, further := prefixes(true)(rank, 16); first != want || further != wantMore || !strings.Contains(first, "\x1b[") {
			t.Errorf("rank %d: %q, %q; the console has %q, %q", rank, first, further, want, wantMore)
		}
	}
}

// Nobody waits for an answer about GPUs, and nobody asks twice at once.
func TestGPUUse(t *testing.T) {
	defer goleak.VerifyNone(t)
	asked, answer := make(chan struct{}), make(chan map[int]int64)
	g := &gpuUse{ask: func(ctx context.Context) (map[int]int64, error) {
		asked <- struct{}{}
		select {
		case used := <-answer:
			return used, nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}}
	for range 3 {
		if used := g.now(); used != nil {
			t.Errorf("%v before there is an answer", used)
		}
	}
	<-asked
	answer <- map[int]int64{1: 2}
	g.asking.Wait()
	for range 3 {
		if diff := cmp.Diff(map[int]int64{1: 2}, g.now()); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
	// An old answer is shown until there is a new one; the end waits for nobody.
	g.due = time.Time{}
	if diff := cmp.Diff(map[int]int64{1: 2}, g.now()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	<-asked
	g.close()
}

func TestGPUUseOnce(t *testing.T) {
	g := &gpuUse{wait: true, ask: func(context.Context) (map[int]int64, error) { return map[int]int64{1: 2}, nil }}
	if diff := cmp.Diff(map[int]int64{1: 2}, g.now()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	g = &gpuUse{wait: true, ask: func(context.Context) (map[int]int64, error) { return nil, errors.New("no driver") }}
	if used := g.now(); used != nil {
		t.Errorf("%v", used)
	}
	g.close()
}

func TestPause(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	pause(ctx, time.Hour)
	pause(t.Context(), 0)
}

// The help shows these subcommands with their flags.
func TestHelpShowsRunDirectories(t *testing.T) {
	usage, _, _ := strings.Cut(helpText(), "\nRanks\n")
	for sub, table := range map[string][]flagSpec{"report": reportFlags(), "logs": logsFlags(), "top": topFlags()} {
		for _, f := range table {
			flag := "--" + f.name + " " + f.arg
			if f.short != "" {
				flag = strings.TrimSpace("-" + f.short + " " + f.arg)
			}
			if !regexp.MustCompile(`\n  lenslaunch ` + sub + ` DIR .*` + regexp.QuoteMeta(flag)).MatchString(usage) {
				t.Errorf("the help does not show %s of %s", flag, sub)
			}
		}
	}
}
