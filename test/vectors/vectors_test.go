package vectors

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/otel/attribute"
)

func TestList(t *testing.T) {
	var got List
	text := `[["s", {"s": "x"}], ["i", {"i": -3}], ["f", {"f": "-inf"}], ["b", {"b": true}], ["n", null], ["u", "<invalid utf-8: 72 ff>"]]`
	if err := json.Unmarshal([]byte(text), &got); err != nil {
		t.Fatal(err)
	}
	want := List{
		attribute.String("s", "x"), attribute.Int64("i", -3), attribute.Float64("f", math.Inf(-1)),
		attribute.Bool("b", true), {Key: "n"}, attribute.String("u", "r\xff"),
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(attribute.Value{})); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// A vector that is not understood may not pass as one that was tested.
func TestRefuses(t *testing.T) {
	for _, text := range []string{
		`{}`, `{"Parse": []}`, `{"Parse": null}`, `{"Other": [[["k", null]]]}`, `[`,
		`{"Parse": [[["k", {"x": 1}]]]}`, `{"Parse": [[["k", "text"]]]}`, `{"Parse": [[["k", {"f": "x"}]]]}`,
		`{"Parse": [[[1, null]]]}`, `{"Parse": [[["k", "<invalid utf-8: 7>"]]]}`, `{"Parse": [[["k", {"s": 1}]]]}`,
	} {
		var v struct{ Parse []List }
		if err := read([]byte(text), &v); err == nil {
			t.Errorf("%s was read as %v", text, v)
		}
	}
	var v struct{ Parse []List }
	if err := read([]byte(`{"Parse": [[["k", {"s": "v"}]]]}`), &v); err != nil {
		t.Error(err)
	}
}
