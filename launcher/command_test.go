package launcher

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestFindCommand(t *testing.T) {
	dir := t.TempDir()
	file := func(name string, mode os.FileMode) string {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("#!/bin/sh\n"), mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	first := file("first/tool", 0o755)
	file("second/tool", 0o755)
	file("first/text", 0o644)
	second := file("second/text", 0o755)
	file("first/only-text", 0o644)
	path := filepath.Join(dir, "first") + ":" + filepath.Join(dir, "second")
	tests := []struct {
		name, cmd, dir string
		want           string
		code           int
	}{
		{"first in PATH", "tool", "", first, 0},
		{"not executable there, but later", "text", "", second, 0},
		{"nowhere executable", "only-text", "", "", ExitNotExecutable},
		{"nowhere", "no-such-tool", "", "", ExitNotFound},
		{"a path", first, "", first, 0},
		{"a path relative to --chdir", "first/tool", dir, "first/tool", 0},
		{"a path that is not there", "./none", dir, "", ExitNotFound},
		{"a file as a directory", "first/tool/x", dir, "", ExitNotFound},
		{"a directory", "./first", dir, "", ExitNotExecutable},
		{"a file without the bit", "first/text", dir, "", ExitNotExecutable},
		{"empty", "", "", "", ExitUsage},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, failure := findCommand(tt.cmd, tt.dir, path)
			if tt.code == 0 {
				if failure != nil || got != tt.want {
					t.Errorf("findCommand = %q, %v, want %q", got, failure, tt.want)
				}
				return
			}
			if failure == nil || failure.Code != tt.code || strings.Contains(failure.Error(), "\n") {
				t.Errorf("findCommand = %q, %v, want one line and code %d", got, failure, tt.code)
			}
		})
	}
}

func TestEmptyPathEntryIsTheDirectory(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "here"), []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	if got, failure := findCommand("here", dir, ":/none"); failure != nil || got != filepath.Join(dir, "here") {
		t.Errorf("findCommand = %q, %v", got, failure)
	}
}
