package ledger

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"
)

func testName(t testing.TB) name {
	t.Helper()
	parsed, err := parseName(testFile)
	if err != nil {
		t.Fatal(err)
	}
	return parsed
}

// sample holds every field in every state.
func sample() History {
	return History{
		Dropped: Dropped{Attempts: 3, RestartCount: n(1), Executions: []Counting{{"0", 2}, {"1/st3", 1}}},
		Attempts: []Attempt{
			{Number: 0, UUID: testUUID("x", 0), Began: testTime, Ended: testTime.Add(time.Hour), Outcome: "failed: rank 3, exit code 1"},
			{Number: 1, RestartCount: n(2), UUID: testUUID("x", 1), Execution: "2", Began: testTime.Add(time.Nanosecond), Launcher: Launcher{Pid: 7, Start: 1 << 60, Boot: "b"}},
		},
	}
}

func TestEncodeDecode(t *testing.T) {
	for name, h := range map[string]History{"empty": {Attempts: []Attempt{}}, "sample": sample()} {
		text, err := encode(testName(t), h)
		if err != nil {
			t.Fatal(err)
		}
		got, err := decode(testName(t), text)
		if err != nil {
			t.Fatalf("%s: %v\n%s", name, err, text)
		}
		if diff := cmp.Diff(h, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// The text is part of the contract with later versions and with people.
func TestEncodedText(t *testing.T) {
	got, err := encode(name{job: testJob, task: "3"}, sample())
	if err != nil {
		t.Fatal(err)
	}
	want := `{"format":"lenslaunch-ledger","version":1,"job":"` + testJob + `","task":"3","dropped":{"attempts":3,"restart_count":1,"executions":[{"execution":"0","next":2},{"execution":"1/st3","next":1}]},"attempts":[
{"number":0,"uuid":"` + testUUID("x", 0) + `","execution":"","began":"2026-03-01T12:00:00Z","ended":"2026-03-01T13:00:00Z","outcome":"failed: rank 3, exit code 1","launcher":{"pid":0,"start_ticks":0,"boot_id":""}},
{"number":1,"restart_count":2,"uuid":"` + testUUID("x", 1) + `","execution":"2","began":"2026-03-01T12:00:00.000000001Z","launcher":{"pid":7,"start_ticks":1152921504606846976,"boot_id":"b"}}
]}
`
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("text (-want +got):\n%s", diff)
	}
}

// Every cut of a valid file is an error, never a shorter history.
func TestTruncatedFile(t *testing.T) {
	text, err := encode(testName(t), sample())
	if err != nil {
		t.Fatal(err)
	}
	for cut := range len(text) - 1 { // the last byte is the newline
		if h, err := decode(testName(t), text[:cut]); err == nil {
			t.Fatalf("cut at %d of %d bytes: %+v", cut, len(text), h)
		}
	}
}

// badFiles are what may stand in a ledger's place, and what the error says.
func badFiles(t *testing.T) map[string][2]string {
	t.Helper()
	valid, err := encode(testName(t), sample())
	if err != nil {
		t.Fatal(err)
	}
	text := string(valid)
	change := func(old, new string) string {
		t.Helper()
		if !strings.Contains(text, old) {
			t.Fatalf("the sample has no %q", old)
		}
		return strings.Replace(text, old, new, 1)
	}
	return map[string][2]string{
		"empty":                 {"", "empty"},
		"white space":           {" \n\n", "empty"},
		"zeros after a crash":   {strings.Repeat("\x00", 512), "not a ledger"},
		"half":                  {text[:len(text)/2], "part of one"},
		"other JSON":            {`{"a":1}`, `format is ""`},
		"JSON of another kind":  {`[1,2]`, "not a ledger"},
		"null":                  {`null`, `format is ""`},
		"text":                  {"hello", "not a ledger"},
		"another format":        {change("lenslaunch-ledger", "other"), `format is "other"`},
		"a later version":       {change(`"version":1`, `"version":2`), "version is 2, and this program knows version 1"},
		"unknown field":         {change(`"number":0`, `"number":0,"gpu":1`), "gpu"},
		"another job":           {change(testJob, testUUID("other", 0)), "belongs to job"},
		"another task":          {change(`"dropped"`, `"task":"3","dropped"`), `task "3"`},
		"something after it":    {text + "{}", "after top-level value"},
		"same UUID twice":       {change(testUUID("x", 1), testUUID("x", 0)), "twice"},
		"no UUID":               {change(testUUID("x", 1), "?"), "UUID"},
		"UUID in capitals":      {change(testUUID("x", 1), strings.ToUpper(testUUID("x", 1))), "UUID"},
		"negative number":       {change(`"number":1,`, `"number":-1,`), "number is -1"},
		"largest number":        {change(`"number":1,`, `"number":9223372036854775807,`), "number is 9223372036854775807"},
		"number too large":      {change(`"number":1,`, `"number":9223372036854775808,`), "not a ledger of version 1"},
		"fraction":              {change(`"number":1,`, `"number":1.5,`), "not a ledger of version 1"},
		"negative count":        {change(`"restart_count":2`, `"restart_count":-2`), "restart count is -2"},
		"count does not grow":   {change(`"restart_count":2`, `"restart_count":1`), "restart count is 1, after 1"},
		"no begin":              {change(`"began":"2026-03-01T12:00:00Z"`, `"began":"0001-01-01T00:00:00Z"`), "no begin"},
		"begin is no time":      {change(`"began":"2026-03-01T12:00:00Z"`, `"began":"yesterday"`), "not a ledger of version 1"},
		"end without outcome":   {change(`"outcome":"failed: rank 3, exit code 1",`, ""), "outcome"},
		"outcome without end":   {change(`"ended":"2026-03-01T13:00:00Z",`, ""), "outcome"},
		"dropped counts differ": {change(`"dropped":{"attempts":3`, `"dropped":{"attempts":0`), "dropped attempts"},
		"dropped execution":     {change(`"next":2`, `"next":0`), "execution"},
	}
}

func TestBadFiles(t *testing.T) {
	for name, bad := range badFiles(t) {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, testFile)
			if err := os.WriteFile(path, []byte(bad[0]), 0o600); err != nil {
				t.Fatal(err)
			}
			checkUnusable(t, dir, bad[1])
			after, err := os.ReadFile(path)
			if err != nil || string(after) != bad[0] {
				t.Errorf("the file was changed: %v", err)
			}
		})
	}
}

// checkUnusable makes sure that nobody counts on: reading, beginning and
// ending all name the file and the problem.
func checkUnusable(t *testing.T, dir, problem string) {
	t.Helper()
	l := mustOpen(t, dir)
	_, readErr := l.Read()
	_, beginErr := l.Begin(t.Context(), func(History) (Attempt, error) {
		t.Error("the caller was asked for an attempt")
		return Attempt{}, errors.New("no")
	})
	endErr := l.End(t.Context(), testUUID("x", 0), "succeeded")
	for what, err := range map[string]error{"Read": readErr, "Begin": beginErr, "End": endErr} {
		var file *FileError
		if !errors.As(err, &file) || file.File != filepath.Join(dir, testFile) {
			t.Errorf("%s: %v, want a FileError", what, err)
			continue
		}
		for _, want := range []string{"cannot use ledger " + file.File, problem, "nothing was changed"} {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s: error %q does not say %q", what, err, want)
			}
		}
	}
}

func TestNotARegularFile(t *testing.T) {
	for name, test := range map[string]struct {
		make    func(path string) error
		problem string
	}{
		"directory":       {func(path string) error { return os.Mkdir(path, 0o700) }, "not a regular file"},
		"pipe":            {func(path string) error { return unix.Mkfifo(path, 0o600) }, "not a regular file"},
		"link":            {func(path string) error { return os.Symlink("/etc/passwd", path) }, "symbolic link"},
		"link to nowhere": {func(path string) error { return os.Symlink("/nowhere", path) }, "symbolic link"},
		"larger than any": {func(path string) error { return sparse(path, maxSize+1) }, "more than any ledger"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if err := test.make(filepath.Join(dir, testFile)); err != nil {
				t.Fatal(err)
			}
			checkUnusable(t, dir, test.problem)
		})
	}
}

func sparse(path string, size int64) error {
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		return err
	}
	return os.Truncate(path, size)
}

func FuzzDecode(f *testing.F) {
	parsed := testName(f)
	valid, err := encode(parsed, sample())
	if err != nil {
		f.Fatal(err)
	}
	f.Add(valid)
	f.Add(valid[:len(valid)-3])
	f.Add([]byte(`{"format":"lenslaunch-ledger","version":1,"job":"` + testJob + `","attempts":null}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		h, err := decode(parsed, text)
		if err != nil {
			return
		}
		// What is accepted can be continued, written and read back.
		next, err := nextTest(h)
		if err != nil {
			return // a count at its end
		}
		next.Began = testTime
		h = h.with(next)
		again, err := encode(parsed, h)
		if err != nil {
			t.Fatalf("cannot write what was read: %v\n%s", err, text)
		}
		back, err := decode(parsed, again)
		if err != nil {
			// A UUID of our own can stand in the file under another number.
			if strings.Contains(err.Error(), "twice") {
				return
			}
			t.Fatalf("cannot read what was written: %v\n%s", err, again)
		}
		if diff := cmp.Diff(h, back); diff != "" {
			t.Fatalf("(-want +got):\n%s", diff)
		}
	})
}
