package semconv_test

import (
	"encoding/csv"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"lenslaunch/semconv"
)

// A row is one line of the table of conventions.
type row struct{ name, typ, kind, stability, presence string }

func readTable(t *testing.T) []row {
	t.Helper()
	file, err := os.Open("testdata/semconv.csv")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	records, err := csv.NewReader(file).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"name", "type", "kind", "stability", "presence", "brief"}
	if diff := cmp.Diff(want, records[0]); diff != "" {
		t.Fatalf("header of semconv.csv (-want +got):\n%s", diff)
	}
	var rows []row
	for _, r := range records[1:] {
		rows = append(rows, row{r[0], r[1], r[2], r[3], r[4]})
	}
	return rows
}

// A group is one const declaration of names.go: its comment and its constants.
type group struct {
	comment string
	names   map[string]string // attribute name to Go name
	notes   map[string]string // attribute name to its line comment
	order   []string
}

func readNames(t *testing.T) []group {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "names.go", nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	var groups []group
	for _, decl := range file.Decls {
		gen, ok := decl.(*ast.GenDecl)
		if !ok || gen.Tok != token.CONST {
			t.Fatalf("names.go holds something other than constants at %v", decl.Pos())
		}
		if !gen.Lparen.IsValid() {
			continue // Version
		}
		groups = append(groups, readGroup(t, gen))
	}
	return groups
}

func readGroup(t *testing.T, gen *ast.GenDecl) group {
	t.Helper()
	g := group{comment: gen.Doc.Text(), names: map[string]string{}, notes: map[string]string{}}
	for _, spec := range gen.Specs {
		value := spec.(*ast.ValueSpec)
		name, err := strconv.Unquote(value.Values[0].(*ast.BasicLit).Value)
		if err != nil {
			t.Fatal(err)
		}
		g.order = append(g.order, name)
		g.names[name] = value.Names[0].Name
		g.notes[name] = value.Comment.Text()
	}
	return g
}

func TestVersionIsPinned(t *testing.T) {
	if semconv.Version != "1.29.0" {
		t.Errorf("Version = %s: a bump needs the upstream changelog read, the names checked, and an entry in the CHANGELOG", semconv.Version)
	}
}

// Both ways: a row without a constant and a constant without a row are a diff.
func TestConstantsAreTheTable(t *testing.T) {
	var want, got []string
	for _, r := range readTable(t) {
		want = append(want, r.name)
	}
	for _, g := range readNames(t) {
		got = append(got, g.order...)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("names of semconv.csv and of names.go (-csv +go):\n%s", diff)
	}
}

func TestConstantsAreNamedAfterTheirValue(t *testing.T) {
	fold := strings.NewReplacer(".", "", "_", "")
	for _, g := range readNames(t) {
		for name, goName := range g.names {
			if want := fold.Replace(name); strings.ToLower(goName) != want {
				t.Errorf("%s is called %s, which is not its name without dots", name, goName)
			}
		}
	}
}

func TestConstantsSayTheirType(t *testing.T) {
	notes := map[string]string{}
	for _, g := range readNames(t) {
		for name, note := range g.notes {
			notes[name] = note
		}
	}
	for _, r := range readTable(t) {
		if !strings.HasPrefix(notes[r.name], r.typ) {
			t.Errorf("the comment of %s says %q, the table %s", r.name, notes[r.name], r.typ)
		}
	}
}

// The comment above a group states the stability of the namespace that it holds,
// and holds nothing else.
func TestGroupsStateTheirStability(t *testing.T) {
	words := map[string]string{
		"stable":                  "stable within the NeMo ecosystem",
		"retired":                 "retired",
		"stable (upstream)":       "stable upstream",
		"experimental (upstream)": "experimental upstream",
	}
	rows := map[string]row{}
	for _, r := range readTable(t) {
		rows[r.name] = r
	}
	for _, g := range readNames(t) {
		namespace, _, ok := strings.Cut(g.comment, ".*")
		if !ok {
			t.Errorf("the comment %q does not begin with a namespace", g.comment)
		}
		for _, name := range g.order {
			if !strings.HasPrefix(name, namespace+".") {
				t.Errorf("%s stands in the group of %s.*", name, namespace)
			}
			if want := words[rows[name].stability]; !strings.Contains(g.comment, want) {
				t.Errorf("%s is %q, but the comment of its group says %q", name, rows[name].stability, g.comment)
			}
		}
	}
}
