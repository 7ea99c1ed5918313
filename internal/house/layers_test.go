// Package house has no code of its own: its tests hold the whole repository to the
// rules of CONTRIBUTING.md that a compiler does not know. Packages import one way only;
// one place each knows the OpenTelemetry SDK, its exporters, the command-line library,
// the process's end and its signals; tests wait for events and never sleep.
//
// It does not judge style: that is for the linters.
package house

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const module = "lenslaunch"

// pkg is what these tests need of `go list -json`.
type pkg struct {
	ImportPath string
	Dir        string
	Name       string
	Doc        string

	GoFiles, IgnoredGoFiles            []string
	TestGoFiles, XTestGoFiles          []string
	Imports, TestImports, XTestImports []string
}

// path is the package's place in the module, "." for the root.
func (p pkg) path() string {
	if p.ImportPath == module {
		return "."
	}
	return strings.TrimPrefix(p.ImportPath, module+"/")
}

// packages lists all packages of the module, with all build tags of the tests.
func packages(t *testing.T) []pkg {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "list", "-tags=interop,stress", "-json", "./...")
	cmd.Dir = root(t)
	text, err := cmd.Output()
	if err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			t.Fatalf("go list: %v\n%s", err, exit.Stderr)
		}
		t.Fatal(err)
	}
	var list []pkg
	for d := json.NewDecoder(strings.NewReader(string(text))); ; {
		var p pkg
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		list = append(list, p)
	}
	if len(list) < 10 {
		t.Fatalf("go list knows only %d packages", len(list))
	}
	return list
}

// root is the module's directory: tests run in their package's.
func root(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// layer is how high a package lies; it may import what lies lower. ok is false for
// one that has no place in the picture.
//
//	semconv <- carrier <- detect, ranks <- launcher <- internal/cli <- cmd
//
// shutdown, journal and everything else below internal lie at the bottom, beside
// semconv, which they may use: they know nothing of ranks.
func layer(path string) (n int, ok bool) {
	switch {
	case path == "semconv":
		return 0, true
	case path == "carrier":
		return 2, true
	case path == "detect", path == "ranks":
		return 3, true
	case path == "launcher":
		return 4, true
	case path == "internal/cli":
		return 5, true
	case strings.HasPrefix(path, "cmd/"):
		return 6, true
	case path == "shutdown", path == "journal", strings.HasPrefix(path, "internal/"):
		return 1, true
	}
	return 0, false
}

// aside reports whether a package is no part of the program: tests of the whole,
// benchmarks and examples. They may import anything and nothing imports them.
func aside(path string) bool {
	first, _, _ := strings.Cut(path, "/")
	return slices.Contains([]string{"test", "bench", "examples", "tools"}, first)
}

// mayImport says whether the layers allow an import between two packages of the
// module.
func mayImport(from, to string) bool {
	if aside(from) {
		return true
	}
	low, okFrom := layer(from)
	high, okTo := layer(to)
	if !okFrom || !okTo {
		return false
	}
	// The bottom's packages may use each other: the compiler knows no cycles.
	return high < low || (high == 1 && low == 1)
}

func TestImportsGoOneWay(t *testing.T) {
	for _, p := range packages(t) {
		if _, known := layer(p.path()); !known && !aside(p.path()) {
			t.Errorf("%s has no layer: give it one in this test", p.path())
		}
		for _, imported := range p.Imports {
			to, own := strings.CutPrefix(imported, module+"/")
			if own && !mayImport(p.path(), to) {
				t.Errorf("%s must not import %s", p.path(), to)
			}
		}
	}
}

// The rule itself, so that a mistake in it does not pass everything.
func TestLayers(t *testing.T) {
	allowed := [][2]string{
		{"carrier", "semconv"}, {"detect", "carrier"}, {"ranks", "semconv"}, {"launcher", "ranks"}, {"launcher", "detect"},
		{"launcher", "internal/proc"}, {"internal/cli", "launcher"}, {"internal/cli", "internal/otelsetup"}, {"cmd/lenslaunch", "internal/cli"},
		{"shutdown", "semconv"}, {"internal/otelsetup", "shutdown"}, {"internal/port", "internal/proc"}, {"test/harness", "launcher"},
	}
	refused := [][2]string{
		{"semconv", "carrier"}, {"carrier", "detect"}, {"detect", "ranks"}, {"ranks", "detect"}, {"detect", "launcher"}, {"launcher", "internal/cli"},
		{"internal/proc", "ranks"}, {"internal/ledger", "launcher"}, {"internal/port", "carrier"}, {"shutdown", "ranks"}, {"internal/logmux", "internal/cli"},
		{"launcher", "cmd/lenslaunch"}, {"launcher", "test/harness"}, {"launcher", "newcomer"}, {"newcomer", "semconv"}, {"semconv", "shutdown"},
	}
	for _, pair := range allowed {
		if !mayImport(pair[0], pair[1]) {
			t.Errorf("%s may not import %s", pair[0], pair[1])
		}
	}
	for _, pair := range refused {
		if mayImport(pair[0], pair[1]) {
			t.Errorf("%s may import %s", pair[0], pair[1])
		}
	}
}

// A library that only some packages may know. Tests may use any.
func TestWhoKnowsWhichLibrary(t *testing.T) {
	const otel = "go.opentelemetry.io/otel/"
	rules := []struct {
		library string // import path, with everything below it
		users   []string
	}{
		{otel + "sdk", []string{"internal/otelsetup", "shutdown", "journal"}},
		{otel + "exporters", []string{"internal/otelsetup"}},
		{"go.opentelemetry.io/proto", []string{"internal/otelsetup", "internal/otlpfile", "journal"}},
		{"google.golang.org", []string{"internal/otelsetup", "internal/otlpfile", "journal"}},
		{"github.com/urfave/cli", []string{"internal/cli"}},
	}
	for _, p := range packages(t) {
		for _, imported := range p.Imports {
			for _, r := range rules {
				if (imported == r.library || strings.HasPrefix(imported, r.library+"/")) && !slices.Contains(r.users, p.path()) && !aside(p.path()) {
					t.Errorf("%s must not import %s", p.path(), imported)
				}
			}
			for _, testing := range []string{"testing", "github.com/google/go-cmp", "go.uber.org/goleak", "github.com/rogpeppe/go-internal"} {
				if (imported == testing || strings.HasPrefix(imported, testing+"/")) && !aside(p.path()) {
					t.Errorf("%s imports %s outside its tests", p.path(), imported)
				}
			}
		}
	}
}

func TestEveryPackageHasAComment(t *testing.T) {
	for _, p := range packages(t) {
		doc := p.Doc
		if len(p.GoFiles) == 0 {
			doc = testDoc(t, p)
		}
		want := "Package " + p.Name + " "
		if p.Name == "main" {
			want = "Command " + filepath.Base(p.path()) + " "
		}
		if !strings.HasPrefix(doc, want) {
			t.Errorf("the comment of %s begins with %.40q, want %q", p.path(), doc, want)
		}
	}
}
