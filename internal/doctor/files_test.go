package doctor

import (
	"os"
	"path/filepath"
	"testing"
)

func TestDirectories(t *testing.T) {
	s := subject()
	expect(t, directories(t.Context(), s), Note, "there is none")
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	s.RunDir = filepath.Join(file, "below", "it")
	expect(t, directories(t.Context(), s), Problem, file+" is no directory")
	s.RunDir = filepath.Join(dir, "not", "there", "yet")
	if list := directories(t.Context(), s); len(list) != 1 || list[0].Level == Problem {
		t.Errorf("%+v", list)
	}
	s.StateDir = dir
	if list := directories(t.Context(), s); len(list) != 2 || list[1].Check != "ledger" {
		t.Errorf("%+v", list)
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 1 {
		t.Errorf("it has left %v, %v", left, err)
	}
	s.RunDir, s.StateDir = "/proc/nosuch", ""
	expect(t, directories(t.Context(), s), Problem, "/proc cannot be used")
}

// A TMPDIR of another host: what would lie there is told of once.
func TestTempDirectoryThatIsMissing(t *testing.T) {
	s := subject()
	s.Env["TMPDIR"] = filepath.Join(t.TempDir(), "of", "the", "login", "node")
	s.StateDir = filepath.Join(s.Env["TMPDIR"], "lenslaunch-0")
	expect(t, directories(t.Context(), s), Warning, "the/login/node cannot be used: ")
	s.StateDir = t.TempDir()
	if list := directories(t.Context(), s); len(list) != 2 || list[0].Check != "temp directory" || list[1].Check != "ledger" || list[1].Level == Problem {
		t.Errorf("%+v", list)
	}
}
