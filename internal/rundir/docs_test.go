package rundir

import (
	"go/ast"
	"go/parser"
	"go/token"
	"reflect"
	"strconv"
	"strings"
	"testing"
)

const docsFile = "../../docs/run-directory.md"

// What is written is described, field by field.
func TestDocsHaveEveryField(t *testing.T) {
	text := content(t, docsFile)
	for _, v := range []any{Run{}, Command{}, Launcher{}, AttemptRecord{}, RankRecord{}, CauseRecord{}, LeftRecord{}, NextRecord{}, Event{}} {
		typ := reflect.TypeOf(v)
		for i := range typ.NumField() {
			name, _, _ := strings.Cut(typ.Field(i).Tag.Get("json"), ",")
			if name == "" {
				t.Errorf("%s.%s has no name in JSON", typ.Name(), typ.Field(i).Name)
			}
			if name != "-" && !strings.Contains(text, "`"+name+"`") {
				t.Errorf("the field %s of %s is not described", name, typ.Name())
			}
		}
	}
}

// And every kind of event, outcome and reason of this package.
func TestDocsHaveEveryKind(t *testing.T) {
	text := content(t, docsFile)
	for _, file := range []string{"event.go", "schema.go"} {
		tree, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		ast.Inspect(tree, func(node ast.Node) bool {
			spec, ok := node.(*ast.ValueSpec)
			if !ok {
				return true
			}
			for _, v := range spec.Values {
				if literal, ok := v.(*ast.BasicLit); ok && literal.Kind == token.STRING {
					value, _ := strconv.Unquote(literal.Value)
					n++
					if value != OutcomeRunning && !strings.Contains(text, "`"+value+"`") {
						t.Errorf("%s is not described", value)
					}
				}
			}
			return true
		})
		if n < 5 {
			t.Errorf("%s has only %d constants: is this test looking at the right place?", file, n)
		}
	}
}

// The example is what we would write.
func TestDocsExample(t *testing.T) {
	_, rest, _ := strings.Cut(content(t, docsFile), "```json\n")
	example, _, _ := strings.Cut(rest, "```\n")
	var r Run
	if err := decodeRun([]byte(example), &r); err != nil {
		t.Fatal(err)
	}
	text, err := encodeRun(&r)
	if err != nil {
		t.Fatal(err)
	}
	wantEqual(t, "example", example, string(text))
}
