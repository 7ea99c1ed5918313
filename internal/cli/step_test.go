package cli

import (
	"os"
	"path/filepath"
	"testing"
)

// A line that is proposed works as it stands, also where lenslaunch is not in PATH.
func TestProgram(t *testing.T) {
	dir := t.TempDir()
	put := func(name string) string {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(name), 0o755); err != nil {
			t.Fatal(err)
		}
		return file
	}
	self, other, old := put("tools/lenslaunch"), put("other/lenslaunch"), put("tools/lenslaunch-1.2")
	link := filepath.Join(dir, "bin")
	if err := os.MkdirAll(filepath.Join(dir, "empty/lenslaunch"), 0o755); err != nil { // a directory is no program
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Dir(self), link); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ path, self, want string }{
		{filepath.Dir(self), self, "lenslaunch"},
		{dir + "/empty:" + link, self, "lenslaunch"},
		{"", self, self},
		{dir, self, self},
		{filepath.Dir(other) + ":" + filepath.Dir(self), self, self},
		{filepath.Dir(self), old, old},
		{"", dir + "/cli.test", "lenslaunch"},
		{"", dir + "/lenslaunch (deleted)", "lenslaunch"},
	} {
		if got := program(test.path, test.self); got != test.want {
			t.Errorf("%s with PATH %s: %s, want %s", test.self, test.path, got, test.want)
		}
	}
}
