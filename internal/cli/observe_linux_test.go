package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"lenslaunch/internal/openwork"
	"lenslaunch/internal/otelsetup"
	"lenslaunch/internal/rundir"
	"lenslaunch/journal"
	"lenslaunch/launcher"
)

// newObserved is the telemetry of a run whose journals are in a directory.
func newObserved(t *testing.T) *observed {
	t.Helper()
	dir := t.TempDir()
	if _, err := journal.Create(dir, journal.RankName("attempt-0", 1), journal.Header{Slots: 1}); err != nil {
		t.Fatal(err)
	}
	home, err := openwork.Settle(openwork.Place{Dir: dir, Own: 1})
	if err != nil {
		t.Fatal(err)
	}
	s := &observed{
		home: home, recovering: make(chan struct{}), most: time.Minute, stop: func() {},
		telemetry: otelsetup.Setup(t.Context(), otelsetup.Options{Mode: otelsetup.ModeOff}),
		say:       notices{warn: func(msg string, _ ...any) { t.Error(msg) }, debug: func(string, ...any) {}},
	}
	s.going, s.over = context.WithCancel(t.Context())
	if s.lock, err = openwork.Lock(dir); err != nil {
		t.Fatal(err)
	}
	return s
}

// hold keeps a journal in use as a process does that outlived its launcher and the guard.
func hold(t *testing.T, path string) *os.File {
	t.Helper()
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err == nil {
		err = unix.Flock(int(f.Fd()), unix.LOCK_EX)
	}
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// What a process has open that lives on when the next launcher starts comes out when that
// launcher has ended it: it stayed until the launcher after the next.
func TestLeftoversOfProcessesThatLivedOn(t *testing.T) {
	for name, run := range map[string]func(*observed){
		"while the run goes on": func(*observed) {},
		"and the run ends":      func(s *observed) { s.over() },
	} {
		t.Run(name, func(t *testing.T) {
			s := newObserved(t)
			path := s.home.Leftovers[0].Path
			writer := hold(t, path)
			if left := s.recoverOnce(t.Context(), s.home.Leftovers, nil); len(left) != 1 || left[0].Path != path {
				t.Fatalf("left while it is written: %v", left)
			}
			go s.recoverLeftovers(t.Context(), nil)
			writer.Close()
			run(s)
			<-s.recovering
			if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("the journal is still there: %v", err)
			}
			s.end("over")
			if _, err := os.Lstat(journal.Folder(s.home.Dir)); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("the folder of journals is still there: %v", err)
			}
		})
	}
}

// A file system that hangs while leftovers are recovered does not keep the launcher.
func TestEndOfTelemetryIsBounded(t *testing.T) {
	s := newObserved(t)
	s.most = time.Millisecond
	s.end("over") // nobody closes recovering
	close(s.recovering)
}

// Who wants telemetry to cost nothing at the end gets the least, not the default.
func TestTelemetryTimeout(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"0s": lastLook, "1ns": lastLook, "100ms": lastLook, "150ms": 150 * time.Millisecond, "1h": time.Hour, "": otelsetup.DefaultTimeout,
	} {
		var args []string
		if text != "" {
			args = []string{"--telemetry-timeout=" + text}
		}
		s := given(t, nil, args...)
		if e, err := readExport(s); err != nil || e.timeout != want || e.options(nil).Timeout != want {
			t.Errorf("%q: %v, %v; want %v", text, e.timeout, err, want)
		}
	}
}

// The command that a warning names is one that can be copied.
func TestCommandToRecover(t *testing.T) {
	s := newObserved(t)
	s.keeper = openwork.NewKeeper(func(context.Context, []openwork.Work) error { return nil })
	s.home.Dir += "/of mine"
	close(s.recovering)
	if got, want := s.rest(t.Context()).How, "lenslaunch journal recover '"+s.home.Dir+"'"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// A launcher that works without the lock, because whoever recovers had it, keeps its ranks'
// journals: a rank that has not opened its own yet would find none.
func TestRecoverLeavesALivingLaunchersJournals(t *testing.T) {
	dir := t.TempDir()
	home, err := openwork.Settle(openwork.Place{Dir: dir, Own: 1})
	if err != nil {
		t.Fatal(err)
	}
	path, err := journal.Create(dir, journal.RankName("attempt-0", 0), journal.Header{})
	if err != nil {
		t.Fatal(err)
	}
	recovering := func() result {
		return invoke(t, nil, "journal", "recover", dir, "--telemetry-file", filepath.Join(t.TempDir(), "spans.jsonl"))
	}
	r := recovering()
	if _, err := os.Lstat(path); err != nil || r.code != exitNo || !strings.Contains(r.err, openwork.ErrHeld.Error()) {
		t.Errorf("%+v, %v", r, err)
	}
	home.Close()
	r = recovering()
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) || r.code != 0 || r.out != "nothing to recover\n" {
		t.Errorf("when it has gone: %+v, %v", r, err)
	}
}

// What is here is shown and recovered, also where another node's journals are elsewhere.
func TestJournalsOfANodeElsewhere(t *testing.T) {
	dir := t.TempDir()
	node := filepath.Join(dir, "node-1")
	if err := errors.Join(os.Mkdir(node, 0o700),
		os.WriteFile(filepath.Join(node, "journal-at.json"), []byte(`{"host":"far away","dir":"/there"}`), 0o600)); err != nil {
		t.Fatal(err)
	}
	path, err := journal.Create(dir, journal.RankName("attempt-0", 0), journal.Header{})
	if err != nil {
		t.Fatal(err)
	}
	const elsewhere = "the journals of this run are on host far away, in /there: look there"
	r := invoke(t, nil, "journal", "show", dir)
	if r.code != exitNo || !strings.Contains(r.out, "rank 0: no process has recorded spans") || !strings.Contains(r.err, elsewhere) {
		t.Errorf("show: %+v", r)
	}
	r = invoke(t, nil, "journal", "recover", dir)
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) || r.code != exitNo || !strings.Contains(r.err, elsewhere) {
		t.Errorf("recover: %+v, %v", r, err)
	}
	r = invoke(t, nil, "journal", "show", dir)
	if r.code != exitNo || r.out != "" || !strings.Contains(r.err, elsewhere) {
		t.Errorf("nothing here: %+v", r)
	}
}

// The guard is in another directory and has no console.
func TestRecoveryOfTheGuard(t *testing.T) {
	c := &call{env: map[string]string{
		"OTEL_EXPORTER_OTLP_TRACES_CERTIFICATE": "ca.pem", "OTEL_EXPORTER_OTLP_CLIENT_KEY": "/k.pem", "ssl_cert_file": "b.pem",
		"OTEL_EXPORTER_OTLP_CERTIFICATE": " ", "OTEL_EXPORTER_OTLP_HEADERS": "a=secret", "AWS_SECRET_ACCESS_KEY": "no", "https_proxy": "p",
		"OTEL_RESOURCE_ATTRIBUTES": strings.Repeat("long", 1<<14), "OTEL_SERVICE_NAME": "llm",
	}}
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	got := c.recovery(export{mode: otelsetup.ModeAuto, file: "spans.jsonl"}, "", "/home")
	want := launcher.Recovery{
		Args: []string{"journal", "recover", "--ended-at", "{ended}", "--telemetry", "auto", "--telemetry-file", here + "/spans.jsonl", "--", "/home"},
		Env: []string{
			"OTEL_EXPORTER_OTLP_CERTIFICATE= ", "OTEL_EXPORTER_OTLP_CLIENT_KEY=/k.pem", "OTEL_EXPORTER_OTLP_HEADERS=a=secret",
			"OTEL_EXPORTER_OTLP_TRACES_CERTIFICATE=" + here + "/ca.pem", "https_proxy=p", "ssl_cert_file=" + here + "/b.pem",
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for variable, want := range map[string]bool{"OTEL_TRACES_EXPORTER=console": false, "OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:1": true} {
		key, value, _ := strings.Cut(variable, "=")
		c := &call{env: map[string]string{key: value, "TMPDIR": t.TempDir()}}
		j := &job{plan: &launcher.Plan{Config: launcher.Config{Command: []string{"true"}}}}
		s := c.observe(j, nil, io.Discard, notices{warn: func(string, ...any) {}, debug: func(string, ...any) {}})
		if given := len(j.plan.Traced.Recovery.Args) > 0; given != want || j.plan.Traced.Journals == "" {
			t.Errorf("%s: the guard recovers: %v", variable, given)
		}
		s.end("over")
	}
}

// An administrator who recovers in a user's directory would leave files there that the
// user's next launcher cannot write.
func TestRecoverInAnotherUsersDirectory(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root, to give a directory to another user")
	}
	dir := t.TempDir()
	if _, err := journal.Create(dir, journal.RankName("attempt-0", 0), journal.Header{}); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(dir, 1, 1); err != nil {
		t.Fatal(err)
	}
	r := invoke(t, nil, "journal", "recover", dir, "--telemetry-file", filepath.Join(dir, "spans.jsonl"))
	entries, err := os.ReadDir(dir)
	if r.code != exitNo || !strings.Contains(r.err, "is another user's: recover as its owner") || err != nil || len(entries) != 1 {
		t.Errorf("%+v, %v, %v", r, entries, err)
	}
}

// Journals that were moved, because the run directory is on a network file system, belong
// to the record in the run directory all the same: the report said nothing of them.
func TestRecoverJournalsThatWereMoved(t *testing.T) {
	dir, home := filepath.Join(t.TempDir(), "run"), t.TempDir()
	d, err := rundir.Open(rundir.Options{Dir: dir, Nodes: 1})
	if err == nil {
		_, err = d.Begin(rundir.BeginInfo{Ranks: []rundir.RankInfo{{Rank: 0}}})
	}
	if err = errors.Join(err, d.Close()); err != nil {
		t.Fatal(err)
	}
	path, err := journal.Create(home, journal.RankName("attempt-0", 0), journal.Header{})
	if err != nil {
		t.Fatal(err)
	}
	w, err := journal.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	telemetry := otelsetup.Setup(t.Context(), otelsetup.Options{File: filepath.Join(t.TempDir(), "spans.jsonl"), Journal: w})
	defer telemetry.Shutdown("over")
	telemetry.Tracer.Start(t.Context(), "train")
	// Another file with the same bytes is not in use any more.
	text, err := os.ReadFile(path)
	host, _ := os.Hostname()
	pointer := filepath.Join(dir, "journal-at.json")
	if err = errors.Join(err, os.Remove(path), os.WriteFile(path, text, 0o600),
		os.WriteFile(pointer, fmt.Appendf(nil, `{"host":%q,"dir":%q}`, host, home), 0o600)); err != nil {
		t.Fatal(err)
	}
	if r := invoke(t, nil, "journal", "recover", dir); r.code != 0 || !strings.Contains(r.out, "recovered 1 spans of 1 processes") {
		t.Errorf("%+v", r)
	}
	if r := invoke(t, nil, "report", dir); r.code != 0 || !strings.Contains(r.out, "rank 0: train (") {
		t.Errorf("%+v", r)
	}
	if _, err := os.Lstat(pointer); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the pointer is left: %v", err)
	}
}
