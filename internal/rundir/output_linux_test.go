package rundir

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

func TestOutput(t *testing.T) {
	d := newDir(t)
	a := mustBegin(t, d, BeginInfo{})
	f, err := a.Output(3, Err)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	path := filepath.Join(a.Path(), "rank-3.err")
	wantEqual(t, "path", a.OutputPath(3, Err), path)
	wantEqual(t, "mode", mode(t, path), os.FileMode(0o600))
	flags, err := unix.FcntlInt(f.Fd(), unix.F_GETFL, 0)
	if err != nil {
		t.Fatal(err)
	}
	wantEqual(t, "flags", flags&(unix.O_APPEND|unix.O_NONBLOCK|unix.O_ACCMODE), unix.O_APPEND|unix.O_WRONLY)
	if flags, err = unix.FcntlInt(f.Fd(), unix.F_GETFD, 0); err != nil || flags&unix.FD_CLOEXEC == 0 {
		t.Errorf("it is passed to every child: %x, %v", flags, err)
	}
}

// The descriptor is the worker's own: it writes on when the launcher has gone.
func TestOutputOfAWorker(t *testing.T) {
	d := newDir(t)
	a := mustBegin(t, d, BeginInfo{})
	out, err := a.Output(0, Out)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("sh", "-c", "echo one; read x; echo two; (echo three)")
	cmd.Stdout = out
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	out.Close()
	mustClose(t, d)
	in.Close()
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	wantEqual(t, "output", content(t, a.OutputPath(0, Out)), "one\ntwo\nthree\n")
}

// Several writers of one file, as stdout and stderr of a shell redirection: every
// write goes to the end.
func TestOutputTwice(t *testing.T) {
	a := mustBegin(t, newDir(t), BeginInfo{})
	for i := range 3 {
		f, err := a.Output(0, Out)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		fmt.Fprintf(f, "%d\n", i)
	}
	wantEqual(t, "output", content(t, a.OutputPath(0, Out)), "0\n1\n2\n")
}

func TestOutputOf512Ranks(t *testing.T) {
	d := newDir(t)
	var ranks []RankInfo
	for rank := range 512 {
		ranks = append(ranks, RankInfo{Rank: rank, Local: rank})
	}
	a := mustBegin(t, d, BeginInfo{Ranks: ranks})
	for rank := range 512 {
		for _, s := range []Stream{Out, Err} {
			f, err := a.Output(rank, s)
			if err != nil {
				t.Fatal(err)
			}
			f.Close()
		}
	}
	wantEqual(t, "files", len(entries(t, a.Path())), 1024)
	wantEqual(t, "records", len(mustRead(t, d.Path()).Attempts[0].Ranks), 512)
}

func TestOutputFiles(t *testing.T) {
	dir := t.TempDir()
	mustMkdir(t, dir+"/attempt-0/rank-1.out.9")
	for _, name := range []string{
		"rank-1.out", "rank-1.out.1", "rank-1.out.2", "rank-1.out.10", "rank-1.out.0", "rank-1.out.x", "rank-1.out.", "rank-1.out.-3", "rank-1.err", "rank-11.out", ".rank-1.out.new", "rank-1.out.99999999999999999999",
	} {
		mustWrite(t, dir+"/attempt-0/"+name, "")
	}
	list, err := OutputFiles(dir, "attempt-0", 1, Out)
	if err != nil {
		t.Fatal(err)
	}
	for i := range list {
		list[i] = filepath.Base(list[i])
	}
	wantEqual(t, "files", list, []string{"rank-1.out.10", "rank-1.out.2", "rank-1.out.1", "rank-1.out"})
	if list, err := OutputFiles(dir, "attempt-0", 7, Out); err != nil || len(list) != 0 {
		t.Errorf("a rank without output has %v, %v", list, err)
	}
	_, err = OutputFiles(dir, "../attempt-0", 1, Out)
	wantError(t, err, "is no name of an attempt")
	_, err = OutputFiles(dir, "attempt-1", 1, Out)
	wantError(t, err, "cannot list output")
}

func TestTail(t *testing.T) {
	a := mustBegin(t, newDir(t), BeginInfo{})
	long := strings.Repeat("x", maxTail)
	tests := []struct {
		text  string
		lines int
		want  []string
	}{
		{"", 3, nil},
		{"one", 3, []string{"one"}},
		{"one\n", 3, []string{"one"}},
		{"\n", 3, []string{""}},
		{"1\n2\n3\n4\n", 3, []string{"2", "3", "4"}},
		{"1\n2\n3\n4", 3, []string{"2", "3", "4"}},
		{"1\n2\n", 0, nil},
		{long + "\nlast\n", 3, []string{"last"}},
		{"first\n" + long, 3, []string{long}},
	}
	for rank, tt := range tests {
		f, err := a.Output(rank, Err)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.WriteString(tt.text); err != nil {
			t.Fatal(err)
		}
		f.Close()
		got, err := a.Tail(rank, Err, tt.lines)
		if err != nil {
			t.Fatal(err)
		}
		wantEqual(t, fmt.Sprintf("tail of %.20q", tt.text), got, tt.want)
	}
	if got, err := a.Tail(100, Err, 3); got != nil || err != nil {
		t.Errorf("of a rank without a file: %q, %v", got, err)
	}
	mustMkdir(t, a.OutputPath(101, Out))
	_, err := a.Tail(101, Out, 3)
	wantError(t, err, "cannot read the output of rank 101")
}

// What an earlier launcher wrote to a file that is continued is no tail of this one.
func TestTailBelongsToTheAttempt(t *testing.T) {
	d := newDir(t)
	mustMkdir(t, d.Path()+"/attempt-0")
	mustWrite(t, d.Path()+"/attempt-0/rank-0.err", "old error\n")
	mustWrite(t, d.Path()+"/attempt-0/rank-0.err.1", "older error\n")
	a := mustBegin(t, d, BeginInfo{Name: "attempt-0"})
	f, err := a.Output(0, Err)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	got, err := a.Tail(0, Err, 5)
	if err != nil || got != nil {
		t.Errorf("before it wrote: %q, %v", got, err)
	}
	fmt.Fprintln(f, "new error")
	got, _ = a.Tail(0, Err, 5)
	wantEqual(t, "tail", got, []string{"new error"})
}

// A tail goes on in the file that was just rotated away.
func TestTailOverRotation(t *testing.T) {
	a := mustBegin(t, newDir(t), BeginInfo{})
	w, err := a.Log(0, Err, 10, 5)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	for i := range 9 {
		fmt.Fprintf(w, "line %d\n", i)
	}
	got, err := a.Tail(0, Err, 3)
	if err != nil {
		t.Fatal(err)
	}
	wantEqual(t, "tail", got, []string{"line 6", "line 7", "line 8"})
	got, _ = a.Tail(0, Err, 100)
	wantEqual(t, "all that is kept", len(got), 6)
}
