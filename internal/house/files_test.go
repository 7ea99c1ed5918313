package house

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// files lists what is, or would be, under version control, from the module's root with
// slashes: as git says where it can, else all files.
func files(t *testing.T) []string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	cmd.Dir = root(t)
	if text, err := cmd.Output(); err == nil {
		return existing(t, strings.Split(strings.TrimRight(string(text), "\x00"), "\x00"))
	}
	return walk(t)
}

// existing leaves out what was removed from the work tree only.
func existing(t *testing.T, paths []string) []string {
	t.Helper()
	var list []string
	for _, path := range paths {
		if info, err := os.Lstat(filepath.Join(root(t), path)); err == nil && info.Mode().IsRegular() {
			list = append(list, path)
		}
	}
	return list
}

// walk is for a source archive, which has no history.
func walk(t *testing.T) []string {
	t.Helper()
	var list []string
	err := fs.WalkDir(os.DirFS(root(t)), ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := entry.Name()
		hidden := strings.HasPrefix(name, ".") && name != "." && name != ".ci" && name != ".golangci.yml"
		if entry.IsDir() && (hidden || path == "bin" || path == "dist") {
			return fs.SkipDir
		}
		if entry.Type().IsRegular() && !hidden {
			list = append(list, path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// A path of the machine that something was written on means nothing on another one.
func TestNoPathOfADevelopersMachine(t *testing.T) {
	own := machinePath()
	for _, path := range files(t) {
		text, err := os.ReadFile(filepath.Join(root(t), path))
		if err != nil {
			t.Fatal(err)
		}
		for i, line := range strings.Split(string(text), "\n") {
			if found := own.FindString(line); found != "" {
				t.Errorf("%s:%d: %q", path, i+1, strings.TrimSpace(found))
			}
		}
	}
}

// machinePath matches the beginning of a path below a directory that is somebody's
// own; not the same name further down another path.
func machinePath() *regexp.Regexp {
	// Taken apart, or this file would be the first to be found.
	own := []string{"work", "root", "workspace", "Users/[a-z]+", "mnt/[a-z]+"}
	return regexp.MustCompile(`(^|[^\w./}~$-])/(` + strings.Join(own, "|") + `)/`)
}

func TestMachinePath(t *testing.T) {
	for text, want := range map[string]bool{
		"see /" + "work/x": true, "\"/" + "root/.cache\"": true, "(/" + "work/x)": true, "/" + "workspace/a": true,
		"$dir/" + "root/etc": false, "${dir}/" + "root/etc": false, "a/" + "work/b": false, "/rootless/x": false,
		"../" + "work/x": false, "/tmp/" + "work": false,
	} {
		if got := machinePath().MatchString(text); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}

// Every file ends with a line end, and none has another system's: scripts break on
// them.
func TestTextFilesAreText(t *testing.T) {
	for _, path := range files(t) {
		text, err := os.ReadFile(filepath.Join(root(t), path))
		if err != nil {
			t.Fatal(err)
		}
		if len(text) == 0 || strings.Contains("/"+path, "/testdata/") || strings.ContainsRune(string(text), 0) {
			continue
		}
		if text[len(text)-1] != '\n' {
			t.Errorf("%s does not end with a line end", path)
		}
		if strings.Contains(string(text), "\r\n") {
			t.Errorf("%s has carriage returns", path)
		}
	}
}
