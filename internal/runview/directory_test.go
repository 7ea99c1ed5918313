package runview

import (
	"encoding/binary"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"lenslaunch/internal/logtime"
	"lenslaunch/internal/rundir"
)

// directory is a run directory that a test writes by hand, so that times are what the
// test says.
type directory struct {
	t    *testing.T
	path string
	run  rundir.Run
}

func newDirectory(t *testing.T) *directory {
	t.Helper()
	d := &directory{t: t, path: filepath.Join(t.TempDir(), "run"), run: rundir.Run{
		Schema: rundir.Schema, RunID: "run-7", Nodes: 1, WorldSize: 2, Ranks: 2, Started: began(), Launcher: liveLauncher(),
	}}
	d.mkdir("")
	return d
}

// liveLauncher is a launcher that surely lives, as far as can be told from here: it is
// on another machine, and wrote a moment ago.
func liveLauncher() rundir.Launcher { return rundir.Launcher{Pid: 1, Host: "elsewhere"} }

func (d *directory) mkdir(name string) {
	d.t.Helper()
	if err := os.MkdirAll(filepath.Join(d.path, name), 0o700); err != nil {
		d.t.Fatal(err)
	}
}

// save writes run.json. The lock file is what shows that the launcher lives.
func (d *directory) save() {
	d.t.Helper()
	text, err := json.Marshal(d.run)
	if err != nil {
		d.t.Fatal(err)
	}
	d.write("run.lock", "")
	d.write("run.json.new", string(text))
	if err := os.Rename(filepath.Join(d.path, "run.json.new"), filepath.Join(d.path, "run.json")); err != nil {
		d.t.Fatal(err)
	}
}

// begin adds an attempt that runs.
func (d *directory) begin(name string) {
	d.t.Helper()
	d.mkdir(name)
	n := len(d.run.Attempts)
	d.run.Attempts = append(d.run.Attempts, rundir.AttemptRecord{Name: name, Number: n, Began: began().Add(time.Duration(n) * time.Minute)})
	d.save()
}

// end ends the latest attempt; the run, too, if code is given.
func (d *directory) end(outcome string, code *int) {
	d.t.Helper()
	a := &d.run.Attempts[len(d.run.Attempts)-1]
	a.Outcome, a.Ended = outcome, a.Began.Add(30*time.Second)
	if code != nil {
		d.run.Outcome, d.run.ExitCode, d.run.Ended = outcome, code, a.Ended
	}
	d.save()
}

func (d *directory) write(name, text string) {
	d.t.Helper()
	if err := os.WriteFile(filepath.Join(d.path, name), []byte(text), 0o600); err != nil {
		d.t.Fatal(err)
	}
}

// add appends to a file.
func (d *directory) add(name, text string) {
	d.t.Helper()
	f, err := os.OpenFile(filepath.Join(d.path, name), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		d.t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString(text); err != nil {
		d.t.Fatal(err)
	}
}

// mark is "so many seconds after began the log was so long".
type mark struct {
	second float64
	end    uint64
}

// times writes the index of a log.
func (d *directory) times(log string, marks ...mark) {
	d.t.Helper()
	var text []byte
	for _, m := range marks {
		text = append(text, 0)
		text = binary.AppendUvarint(text, uint64(began().Add(time.Duration(m.second*float64(time.Second))).UnixMilli()))
		text = binary.AppendUvarint(text, m.end)
	}
	d.write(log+logtime.Suffix, string(text))
}

// modified sets when a log was last written to.
func (d *directory) modified(log string, second int) {
	d.t.Helper()
	at := began().Add(time.Duration(second) * time.Second)
	if err := os.Chtimes(filepath.Join(d.path, log), at, at); err != nil {
		d.t.Fatal(err)
	}
}
