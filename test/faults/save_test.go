//go:build faults && linux

package faults

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// open-mpi/ompi#3337: the wrapper script is killed, and the real program, which would
// have saved, lives on or dies. Here the script dies of SIGTERM as scripts do, and the
// Python program below it gets the signal and the three seconds that it needs.
func TestWrapperScriptSaves(t *testing.T) {
	for _, program := range []string{"bash", "python3"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skip(err)
		}
	}
	dir := t.TempDir()
	write(t, dir, "run.sh", "python3 train.py\n")
	write(t, dir, "train.py", `import os, signal, sys, time

def save(*_):
    time.sleep(3)
    open("saved-" + os.environ["RANK"], "w").close()
    sys.exit(0)

signal.signal(signal.SIGTERM, save)
print("ready", flush=True)
while True:
    signal.pause()
`)
	for _, set := range settings() {
		if set.uid != 0 {
			continue
		}
		t.Run(set.name, func(t *testing.T) {
			if set.missing != "" {
				t.Skip(set.missing)
			}
			s := newScene(t, ownTools(t), set)
			stdout := s.output()
			args := append([]string{"-v", "--nproc", "2", "--stop-timeout", "2m", "--chdir", dir}, set.flags...)
			s.start(s.command(kind{}, stdout.w, append(args, "--", "bash", "run.sh")...))
			stdout.w.Close()
			for range 2 {
				if line := stdout.line(); !strings.HasSuffix(line, " ready") {
					t.Fatalf("unexpected line %q", line)
				}
			}
			s.signal(syscall.SIGTERM)
			s.requireEnd(143)
			for rank := range 2 {
				if err := os.Remove(filepath.Join(dir, fmt.Sprintf("saved-%d", rank))); err != nil {
					t.Errorf("rank %d has not saved: %v\n%s", rank, err, s.said())
				}
			}
		})
	}
}

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
