package otelsetup

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// read lists the variables that this package reads: the names that it gives to value and
// otlp, and those that it composes for a signal.
func read(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		tree, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(tree, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || len(call.Args) == 0 {
				return true
			}
			literal, ok := call.Args[len(call.Args)-1].(*ast.BasicLit)
			if f, isName := call.Fun.(*ast.Ident); ok && isName && literal.Kind == token.STRING {
				name, _ := strconv.Unquote(literal.Value)
				switch f.Name {
				case "value":
					names[name] = true
				case "otlp":
					names["OTEL_EXPORTER_OTLP_"+name] = true
				}
			}
			return true
		})
	}
	for _, sig := range []signal{traces, metrics} {
		names["OTEL_"+string(sig)+"_EXPORTER"] = true
	}
	return slices.Sorted(maps.Keys(names))
}

// The table of variables in docs/TELEMETRY.md has what is read, and nothing else.
func TestVariablesDocument(t *testing.T) {
	text, err := os.ReadFile("../../docs/TELEMETRY.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, ok := strings.Cut(string(text), "\n| variable | what for |\n")
	if !ok {
		t.Fatal("no table of variables")
	}
	var described []string
	for _, line := range strings.Split(rest, "\n") {
		if !strings.HasPrefix(line, "|") {
			break
		}
		for _, name := range regexp.MustCompile("`([A-Z][A-Z_]+)`").FindAllStringSubmatch(strings.Split(line, "|")[1], -1) {
			described = append(described, name[1])
		}
	}
	slices.Sort(described)
	if diff := cmp.Diff(described, read(t)); diff != "" {
		t.Errorf("variables (-document +code):\n%s", diff)
	}
}
