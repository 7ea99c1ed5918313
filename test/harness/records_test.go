package harness

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestRecordsInOrder(t *testing.T) {
	type record struct{ Rank int }
	dir := t.TempDir()
	for name, text := range map[string]string{
		"0-1.json": `{"rank": 1}`, "0-0.json": `{"rank": 0}`, "0-2.json.tmp": `{"ra`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff([]record{{0}, {1}}, Records[record](t, dir)); diff != "" {
		t.Error(diff)
	}
}
