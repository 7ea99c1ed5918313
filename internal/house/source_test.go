package house

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// source is one parsed Go file of the module.
type source struct {
	path string // from the module's root, with slashes
	text []byte
	set  *token.FileSet
	tree *ast.File
}

func (s source) isTest() bool { return strings.HasSuffix(s.path, "_test.go") }

// at is a place in the file, for messages.
func (s source) at(p token.Pos) string { return s.path + ":" + strconv.Itoa(s.set.Position(p).Line) }

// sources parses every Go file of the module, whatever its build constraints; those
// below testdata are no part of it.
func sources(t *testing.T) []source {
	t.Helper()
	var list []source
	for _, path := range files(t) {
		if !strings.HasSuffix(path, ".go") || strings.Contains("/"+path, "/testdata/") {
			continue
		}
		list = append(list, parse(t, path))
	}
	if len(list) < 50 {
		t.Fatalf("only %d Go files found", len(list))
	}
	return list
}

func parse(t *testing.T, path string) source {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root(t), path))
	if err != nil {
		t.Fatal(err)
	}
	s := source{path: path, text: text, set: token.NewFileSet()}
	if s.tree, err = parser.ParseFile(s.set, path, text, parser.ParseComments|parser.SkipObjectResolution); err != nil {
		t.Fatal(err)
	}
	return s
}

// uses lists the places where a name of an imported package is used, also as a value
// and under another name of the package.
func (s source) uses(imported string, names ...string) []token.Pos {
	local := ""
	for _, spec := range s.tree.Imports {
		if path, _ := strconv.Unquote(spec.Path.Value); path == imported {
			local = imported[strings.LastIndex(imported, "/")+1:]
			if spec.Name != nil {
				local = spec.Name.Name
			}
		}
	}
	if local == "" {
		return nil
	}
	var found []token.Pos
	ast.Inspect(s.tree, func(n ast.Node) bool {
		if sel, ok := n.(*ast.SelectorExpr); ok {
			if x, ok := sel.X.(*ast.Ident); ok && x.Name == local && slices.Contains(names, sel.Sel.Name) {
				found = append(found, sel.Pos())
			}
		}
		return true
	})
	return found
}

// A dot import would hide a use from these tests.
func TestNoDotImport(t *testing.T) {
	for _, s := range sources(t) {
		for _, spec := range s.tree.Imports {
			if spec.Name != nil && spec.Name.Name == "." {
				t.Errorf("%s: import .", s.at(spec.Pos()))
			}
		}
	}
}

// Only a program's main file ends the process, and a test's own TestMain.
func TestOnlyMainEndsTheProcess(t *testing.T) {
	for _, s := range sources(t) {
		isMain := s.tree.Name.Name == "main" && filepath.Base(s.path) == "main.go"
		if isMain || s.isTest() {
			continue
		}
		ends := s.uses("os", "Exit")
		ends = append(ends, s.uses("syscall", "Exit")...)
		ends = append(ends, s.uses("golang.org/x/sys/unix", "Exit")...)
		ends = append(ends, s.uses("log", "Fatal", "Fatalf", "Fatalln")...)
		for _, at := range ends {
			t.Errorf("%s ends the process: return an exit code", s.at(at))
		}
	}
}

// Signals are received in one place and injected as a channel.
func TestSignalsAreReceivedInOnePlace(t *testing.T) {
	const place = "internal/cli/signals.go"
	there := false
	for _, s := range sources(t) {
		if s.isTest() || aside(s.path) {
			continue
		}
		for _, at := range s.uses("os/signal", "Notify", "NotifyContext") {
			if there = there || s.path == place; s.path != place {
				t.Errorf("%s receives signals: only %s does", s.at(at), place)
			}
		}
	}
	if !there {
		t.Errorf("%s does not receive signals: is this test looking at the right place?", place)
	}
}

// A test waits for an event; a sleep is too long or too short.
func TestTestsDoNotSleep(t *testing.T) {
	for _, s := range sources(t) {
		if !s.isTest() && !aside(s.path) {
			continue
		}
		for _, at := range s.uses("time", "Sleep") {
			t.Errorf("%s sleeps: wait for what must happen", s.at(at))
		}
	}
}

func TestNoInit(t *testing.T) {
	for _, s := range sources(t) {
		for _, d := range s.tree.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil && f.Name.Name == "init" {
				t.Errorf("%s: func init", s.at(f.Pos()))
			}
		}
	}
}

// mainLines is the most lines of code that the files of a command may have.
const mainLines = 15

func TestMainIsShort(t *testing.T) {
	lines := map[string]int{}
	for _, s := range sources(t) {
		if strings.HasPrefix(s.path, "cmd/") && !s.isTest() {
			lines[filepath.Dir(s.path)] += codeLines(s.text)
		}
	}
	if len(lines) == 0 {
		t.Fatal("no command found")
	}
	for dir, n := range lines {
		if n > mainLines {
			t.Errorf("%s has %d lines of code: at most %d, the rest belongs into a package that can be tested", dir, n, mainLines)
		}
	}
}

// codeLines counts the lines that hold a token: neither blank nor comment.
func codeLines(text []byte) int {
	set := token.NewFileSet()
	file := set.AddFile("", -1, len(text))
	var s scanner.Scanner
	s.Init(file, text, nil, 0) // without comments
	seen := map[int]bool{}
	for {
		pos, tok, literal := s.Scan()
		if tok == token.EOF {
			return len(seen)
		}
		if tok == token.SEMICOLON && literal == "\n" {
			continue // put in by the scanner
		}
		first := set.Position(pos).Line
		for i := range bytes.Count([]byte(literal), []byte("\n")) + 1 {
			seen[first+i] = true
		}
	}
}

func TestCodeLines(t *testing.T) {
	const text = "// Package x.\npackage x\n\n/* a\nb */\nvar a = `1\n2\n3` // c\n\nfunc f() {\n\t// no\n}\n"
	if got := codeLines([]byte(text)); got != 6 {
		t.Errorf("%d lines, want 6", got)
	}
}

func TestUses(t *testing.T) {
	set := token.NewFileSet()
	const text = "package x\nimport (\n\t\"time\"\n\tend \"os\"\n)\nvar a = time.Sleep\nfunc f() { time.Now(); end.Exit(1); os.Exit(2) }\n"
	tree, err := parser.ParseFile(set, "x.go", text, 0)
	if err != nil {
		t.Fatal(err)
	}
	s := source{set: set, tree: tree}
	if n, m := len(s.uses("time", "Sleep")), len(s.uses("os", "Exit")); n != 1 || m != 1 {
		t.Errorf("%d and %d uses found, want 1 and 1", n, m)
	}
	if len(s.uses("os/signal", "Notify")) != 0 {
		t.Error("a use of what is not imported")
	}
}

// testDoc is the package comment of a package that has only tests.
func testDoc(t *testing.T, p pkg) string {
	t.Helper()
	for _, name := range slices.Concat(p.TestGoFiles, p.XTestGoFiles) {
		if doc := parse(t, filepath.ToSlash(filepath.Join(p.path(), name))).tree.Doc; doc != nil {
			return doc.Text()
		}
	}
	return ""
}
