package rundir

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// testTime is a moment for made-up records.
var testTime = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// warnings collects what Options.Warn is told.
type warnings struct {
	mu   sync.Mutex
	list []error
}

func (w *warnings) add(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.list = append(w.list, err)
}

func (w *warnings) all() []error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.list)
}

// testOptions are those of a run on one node whose warnings fail the test.
func testOptions(t *testing.T, dir string) Options {
	t.Helper()
	return Options{
		Dir:  dir,
		Run:  RunInfo{RunID: "run-7", JobUUID: "6ba7b811-9dad-51d1-80b4-00c04fd430c8", Command: []string{"python", "train.py", "--token=secret"}, Role: "trainer", WorldSize: 2, Ranks: 2},
		Warn: func(err error) { t.Errorf("warned: %v", err) },
	}
}

// mustOpen opens a run directory that the test's end closes.
func mustOpen(t *testing.T, o Options) *Dir {
	t.Helper()
	return mustOpenWith(t, o, realSystem())
}

func mustOpenWith(t *testing.T, o Options, sys system) *Dir {
	t.Helper()
	d, err := open(o, sys)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	return d
}

// newDir opens a new one.
func newDir(t *testing.T) *Dir {
	t.Helper()
	return mustOpen(t, testOptions(t, filepath.Join(t.TempDir(), "run")))
}

func mustClose(t *testing.T, d *Dir) {
	t.Helper()
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
}

func mustBegin(t *testing.T, d *Dir, info BeginInfo) *Attempt {
	t.Helper()
	a, err := d.Begin(info)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func mustRead(t *testing.T, dir string) *Run {
	t.Helper()
	r, err := Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// allEvents are those of a run, up to an error that fails the test.
func allEvents(t *testing.T, dir string) []Event {
	t.Helper()
	var list []Event
	for ev, err := range Events(dir) {
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, ev)
	}
	return list
}

func kinds(events []Event) []string {
	list := []string{}
	for _, ev := range events {
		list = append(list, ev.Kind)
	}
	return list
}

func names(r *Run) []string {
	var list []string
	for _, a := range r.Attempts {
		list = append(list, a.Name)
	}
	return list
}

func content(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func mustWrite(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func mustMkdir(t *testing.T, path string) {
	t.Helper()
	if err := os.MkdirAll(path, 0o700); err != nil {
		t.Fatal(err)
	}
}

// entries lists a directory, without what a lock needs.
func entries(t *testing.T, dir string) []string {
	t.Helper()
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	names := []string{}
	for _, e := range list {
		if !strings.HasPrefix(e.Name(), lockName) {
			names = append(names, e.Name())
		}
	}
	return names
}

func mode(t *testing.T, path string) os.FileMode {
	t.Helper()
	info, err := os.Lstat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.Mode()
}

// wantError checks that an error says all of this.
func wantError(t *testing.T, err error, parts ...string) {
	t.Helper()
	if err == nil {
		t.Fatalf("no error, want one that says %q", parts)
	}
	for _, part := range parts {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("the error is %q, it does not say %q", err, part)
		}
	}
	if strings.Contains(err.Error(), "\n") {
		t.Errorf("the error has several lines: %q", err)
	}
}

func wantEqual(t *testing.T, what string, got, want any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// wholeLines checks that a file of JSON has whole lines only and returns them.
func wholeLines(t *testing.T, path string) []map[string]any {
	t.Helper()
	text := content(t, path)
	if text != "" && !strings.HasSuffix(text, "\n") {
		t.Errorf("%s ends within a line: %q", path, text)
	}
	var list []map[string]any
	for line := range bytes.Lines([]byte(text)) {
		var v map[string]any
		if err := json.Unmarshal(line, &v); err != nil {
			t.Errorf("%s has the line %q: %v", path, line, err)
		}
		list = append(list, v)
	}
	return list
}

// needRoot skips a test that changes owners or mounts.
func needRoot(t *testing.T) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only root may do this")
	}
}

// shortDisk writes only so many bytes in all, then fails as a full disk does.
type shortDisk struct {
	mu   sync.Mutex
	room int
	full error
}

func (s *shortDisk) write(f *os.File, text []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(text) <= s.room {
		s.room -= len(text)
		return f.Write(text)
	}
	n, err := f.Write(text[:s.room])
	s.room = 0
	return n, errors.Join(err, s.full)
}

func (s *shortDisk) set(room int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.room = room
}
