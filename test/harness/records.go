package harness

import (
	"encoding/json"
	"os"
	"path/filepath"
	"sort"
	"testing"
)

// Records reads what the workers wrote into dir, one JSON object per file, in
// the order of the files' names.
func Records[T any](t testing.TB, dir string) []T {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil {
		t.Fatalf("cannot list results: %v", err)
	}
	sort.Strings(paths)
	records := make([]T, len(paths))
	for i, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatalf("cannot read a result: %v", err)
		}
		if err := json.Unmarshal(data, &records[i]); err != nil {
			t.Fatalf("cannot read %s: %v", filepath.Base(path), err)
		}
	}
	return records
}
