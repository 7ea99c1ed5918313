package cli

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// result is what one invocation came to.
type result struct {
	code     int
	out, err string
}

// invoke runs lenslaunch inside this process. It is for what starts no worker.
func invoke(t *testing.T, environ []string, args ...string) result {
	t.Helper()
	dir := t.TempDir()
	std := Streams{In: null(t), Out: file(t, dir, "out"), Err: file(t, dir, "err")}
	code := Main(args, append([]string{"PATH=" + os.Getenv("PATH"), "TMPDIR=" + dir}, environ...), std)
	return result{code, content(t, std.Out), content(t, std.Err)}
}

func null(t *testing.T) *os.File {
	t.Helper()
	f, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return f
}

func file(t *testing.T, dir, name string) *os.File {
	t.Helper()
	f, err := os.Create(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return f
}

func content(t *testing.T, f *os.File) string {
	t.Helper()
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(f)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// raceEnvironment keeps a lenslaunch that is built with the race detector from
// sleeping for a second before each exit, which is the detector's default. The guard
// starts with an empty environment and would sleep all the same.
func raceEnvironment() []string {
	if !raceDetector {
		return nil
	}
	return []string{"GORACE=" + strings.TrimSpace(os.Getenv("GORACE")+" atexit_sleep_ms=0"), "LENSLAUNCH_GUARD=off"}
}

// isOneLine reports whether a text is a whole line and nothing else.
func isOneLine(text string) bool {
	return strings.HasSuffix(text, "\n") && strings.Count(text, "\n") == 1
}

func sortedLines(text string) []string {
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	slices.Sort(lines)
	return lines
}

// given makes settings as from a command line and an environment.
func given(t *testing.T, env map[string]string, flags ...string) settings {
	t.Helper()
	var inv invocation
	rest, err := inv.takeFlags(flags, runFlags())
	if err != nil || len(rest) > 0 {
		t.Fatalf("flags %q: rest %q, error %v", flags, rest, err)
	}
	s, err := parse(inv.flags, runFlags(), env)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// text is a setting as from a flag.
func text(s string) setting { return setting{text: s, given: true, from: "--flag"} }
