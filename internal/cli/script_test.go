package cli

import (
	"bufio"
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/testscript"

	"lenslaunch/internal/proc"
)

// TestScripts runs testdata/script: what a user types, sees and gets back. Each
// script has a TMPDIR of its own, so that no ledger is shared.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(env *testscript.Env) error {
			env.Values[lastBackground{}] = &lastBackground{}
			env.Setenv("NL", "\n") // a script has no other way to write one
			env.Vars = append(env.Vars, raceEnvironment()...)
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"code":    scriptCode,
			"signal":  scriptSignal,
			"exited":  scriptExited,
			"oneline": scriptOneLine,
			"sorted":  scriptSorted,
			"listen":  scriptListen,
			"await":   scriptAwait,
		},
	})
}

// lastBackground remembers the background program of the latest signal or await: wait
// forgets it, and with it the exit code. Of the pipes that have been awaited nobody can
// await another program's: their reader may still be there, and takes its lines.
type lastBackground struct {
	cmd   *exec.Cmd
	pipes *[]string // also a key of testscript: no slice
}

// background is the only program in the background.
func background(ts *testscript.TestScript) *exec.Cmd {
	running := ts.BackgroundCmds()
	if len(running) != 1 {
		ts.Fatalf("%d programs run in the background, want one", len(running))
	}
	ts.Value(lastBackground{}).(*lastBackground).cmd = running[0]
	return running[0]
}

// scriptCode is `code N PROGRAM [ARG...]`: run it, and it exits with N.
func scriptCode(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: code N program [arg...]")
	}
	got := 0
	var exit *exec.ExitError
	if err := ts.Exec(args[1], args[2:]...); errors.As(err, &exit) {
		got = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if want, err := strconv.Atoi(args[0]); err != nil || got != want {
		ts.Fatalf("exit code %d, want %s", got, args[0])
	}
}

// scriptSignal is `signal NAME`: to the program in the background. testscript's own
// kill knows INT and KILL only.
func scriptSignal(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: signal NAME")
	}
	sig, err := proc.ParseSignal(args[0])
	ts.Check(err)
	ts.Check(background(ts).Process.Signal(sig))
}

// scriptExited is `exited N`: the program of the latest signal or await, after wait.
func scriptExited(ts *testscript.TestScript, neg bool, args []string) {
	last := ts.Value(lastBackground{}).(*lastBackground).cmd
	if neg || len(args) != 1 || last == nil {
		ts.Fatalf("usage: exited N, after signal or await, and wait")
	}
	status := last.ProcessState.Sys().(syscall.WaitStatus)
	if got := strconv.Itoa(status.ExitStatus()); got != args[0] {
		ts.Fatalf("it ended by %v, want exit code %s", last.ProcessState, args[0])
	}
}

// scriptOneLine is `oneline stderr`: the output is one line, no more and no less.
func scriptOneLine(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: oneline file")
	}
	text := ts.ReadFile(args[0])
	if strings.Count(text, "\n") != 1 || !strings.HasSuffix(text, "\n") {
		ts.Fatalf("not one line: %q", text)
	}
}

// scriptSorted is `sorted FILE FILE`: the same lines in any order, which is all that
// ranks side by side promise.
func scriptSorted(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: sorted file1 file2")
	}
	if diff := cmp.Diff(sortedLines(ts.ReadFile(args[0])), sortedLines(ts.ReadFile(args[1]))); diff != "" {
		ts.Fatalf("%s and %s differ (-%s +%s):\n%s", args[0], args[1], args[0], args[1], diff)
	}
}

// scriptListen is `listen VARIABLE`: a port that the test holds until the script is
// over.
func scriptListen(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: listen VARIABLE")
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	ts.Check(err)
	ts.Defer(func() { _ = l.Close() })
	ts.Setenv(args[0], strconv.Itoa(l.Addr().(*net.TCPAddr).Port))
}

// scriptAwait is `await PIPE REGEXP...`: read a pipe with a name, into which a program
// in the background writes, until each of the expressions has matched a line. What
// comes later is read too, so that the writer never waits.
func scriptAwait(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: await pipe regexp...")
	}
	background(ts)
	last := ts.Value(lastBackground{}).(*lastBackground)
	if last.pipes == nil {
		last.pipes = new([]string)
	}
	if slices.Contains(*last.pipes, args[0]) {
		ts.Fatalf("%s was awaited before: take another pipe", args[0])
	}
	*last.pipes = append(*last.pipes, args[0])
	f, err := os.Open(ts.MkAbs(args[0]))
	ts.Check(err)
	ts.Defer(func() { _ = f.Close() })
	missing := args[1:]
	lines := bufio.NewScanner(f)
	for len(missing) > 0 && lines.Scan() {
		ts.Logf("%s: %s", args[0], lines.Text())
		missing = slices.DeleteFunc(missing, func(re string) bool {
			matched, err := regexp.Match(re, lines.Bytes())
			ts.Check(err)
			return matched
		})
	}
	if len(missing) > 0 {
		ts.Fatalf("%s ended without %q", args[0], missing)
	}
	go func() { _, _ = io.Copy(io.Discard, f) }()
}

// TestScriptsAreNamed keeps a script from being left out by a wrong ending.
func TestScriptsAreNamed(t *testing.T) {
	files, err := filepath.Glob("testdata/script/*")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if filepath.Ext(file) != ".txtar" {
			t.Errorf("%s is no .txtar file and would not be run", file)
		}
	}
}
