package semconv_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// dotted is a literal that spells an attribute of this package's namespaces, also
// as the beginning of "name=value".
var dotted = regexp.MustCompile(`^(nv|dl|rl|gym|slurm|nemo|wandb|k8s|gen_ai)(\.[a-z][a-z0-9_]*)+(=|$)`)

// foreign is a name that belongs to one project and is spelled there alone.
const foreign = "megatron."

// A typing error in a literal is an attribute that no query finds; in a constant
// it does not compile. So no Go file outside this package and outside tests spells
// a name of these namespaces, and none at all spells another project's.
func TestNamesAreSpelledHereOnly(t *testing.T) {
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]string{}
	for _, g := range readNames(t) {
		for name, goName := range g.names {
			known[name] = goName
		}
	}
	files := 0
	err = filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			if path != root && skipped(entry.Name()) {
				return fs.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		files++
		for _, finding := range spelled(path, known) {
			t.Error(finding)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if files < 4 {
		t.Errorf("only %d Go files under the root: the walk went wrong", files)
	}
}

func skipped(dir string) bool {
	return dir == "testdata" || dir == "docs" || dir == "vendor" ||
		strings.HasPrefix(dir, ".") || strings.HasPrefix(dir, "_")
}

// spelled returns a finding for each literal of the file that should be a
// constant, or should not be there.
func spelled(path string, known map[string]string) []string {
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, path, nil, parser.SkipObjectResolution)
	if err != nil {
		// The compiler reports broken files better than this test could.
		return nil
	}
	home := filepath.Base(filepath.Dir(path)) == "semconv"
	var findings []string
	ast.Inspect(file, func(node ast.Node) bool {
		if _, ok := node.(*ast.ImportSpec); ok {
			return false // k8s.io is a host name
		}
		literal, ok := node.(*ast.BasicLit)
		if !ok || literal.Kind != token.STRING {
			return true
		}
		text, err := strconv.Unquote(literal.Value)
		if err != nil {
			return true
		}
		name, _, _ := strings.Cut(text, "=")
		switch goName := known[name]; {
		case strings.Contains(text, foreign):
			findings = append(findings, set.Position(literal.Pos()).String()+": "+name+" belongs to another project")
		case home:
		case goName != "":
			findings = append(findings, set.Position(literal.Pos()).String()+": use semconv."+goName)
		case dotted.MatchString(text):
			findings = append(findings, set.Position(literal.Pos()).String()+": "+name+" is no attribute of the conventions")
		}
		return true
	})
	return findings
}

func TestSpelledFindsLiterals(t *testing.T) {
	known := map[string]string{"nv.dl.rank": "NVDLRank", "host.name": "HostName"}
	for _, tc := range []struct{ literal, want string }{
		{`"nv.dl.rank"`, "use semconv.NVDLRank"},
		{"`nv.dl.rank`", "use semconv.NVDLRank"},
		{`"nv.dl.rank=3"`, "use semconv.NVDLRank"},
		{`"host.name"`, "use semconv.HostName"},
		{`"nv.dl.rnak"`, "no attribute of the conventions"},
		{`"slurm.nodes"`, "no attribute of the conventions"},
		{`"megatron.num_layers"`, "another project"},
		{`"a job of nv.dl.rank 3"`, ""},
		{`"nemo.lens.job/local"`, ""},
		{`"host.gpu.count"`, ""},
		{`"https://k8s.io"`, ""},
		{`"slurm"`, ""},
	} {
		path := filepath.Join(t.TempDir(), "x.go")
		source := "package x\n\nimport _ \"k8s.io/api\"\n\nvar _ = " + tc.literal + "\n"
		if err := os.WriteFile(path, []byte(source), 0o600); err != nil {
			t.Fatal(err)
		}
		findings := strings.Join(spelled(path, known), "\n")
		if tc.want == "" && findings != "" || !strings.Contains(findings, tc.want) {
			t.Errorf("%s: found %q, want %q", tc.literal, findings, tc.want)
		}
	}
}
