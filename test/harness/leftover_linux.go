package harness

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// processesWith returns every process whose environment has the entry, as
// "pid: command line". It sees the environment that a process was started
// with, so one that rewrote its own is still found.
func processesWith(entry string) ([]string, error) {
	paths, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil {
		return nil, fmt.Errorf("cannot list processes: %w", err)
	}
	var found []string
	for _, path := range paths {
		// A process that ended meanwhile, or is another user's, is not ours.
		environ, err := os.ReadFile(path)
		if err != nil || !hasEntry(environ, entry) {
			continue
		}
		dir := filepath.Dir(path)
		line, _ := os.ReadFile(filepath.Join(dir, "cmdline"))
		words := strings.ReplaceAll(strings.TrimRight(string(line), "\x00"), "\x00", " ")
		found = append(found, filepath.Base(dir)+": "+words)
	}
	return found, nil
}

func hasEntry(environ []byte, entry string) bool {
	for field := range bytes.SplitSeq(environ, []byte{0}) {
		if string(field) == entry {
			return true
		}
	}
	return false
}
