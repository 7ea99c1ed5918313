package launcher

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"lenslaunch/detect"
)

// smi makes an nvidia-smi that answers from the lines of a file, one a call, the last
// one for ever.
func smi(t *testing.T, answers ...string) detect.Host {
	t.Helper()
	dir := t.TempDir()
	list := filepath.Join(dir, "answers")
	if err := os.WriteFile(list, []byte(strings.Join(answers, "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	script := fmt.Sprintf("#!/bin/sh\nhead -1 %[1]s\ntest $(wc -l <%[1]s) = 1 || { tail -n +2 %[1]s >%[1]s.new; mv %[1]s.new %[1]s; }\n", list)
	if err := os.WriteFile(filepath.Join(dir, "nvidia-smi"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	// The script needs more than its own directory, the lookup does not.
	return detect.Host{Path: dir}
}

func release(t *testing.T, limit time.Duration, answers ...string) string {
	t.Helper()
	p := &Plan{
		Config: Config{Policy: Policy{MaxRestarts: 1}, GPURelease: limit},
		gpus:   detect.GPUSet{GPUs: []detect.GPU{{Index: 0}}}, host: smi(t, answers...),
	}
	direct := func(f func()) { f() }
	return newGPUMemory(context.Background(), p, direct).await(context.Background(), limit, direct)
}

func TestRestartWaitsForGPUMemory(t *testing.T) {
	if held := release(t, time.Minute, "0, 10", "0, 70000", "0, 70000", "0, 100"); held != "" {
		t.Errorf("released memory is reported: %s", held)
	}
}

func TestGPUMemoryThatIsNotReleasedIsReported(t *testing.T) {
	if held := release(t, 300*time.Millisecond, "0, 10", "0, 70010"); !strings.Contains(held, "GPU 0 70000 MiB") {
		t.Errorf("await = %q", held)
	}
}

func TestNoGPUsNoWait(t *testing.T) {
	p := &Plan{Config: Config{Policy: Policy{MaxRestarts: 1}, GPURelease: time.Minute}}
	if newGPUMemory(context.Background(), p, func(f func()) { f() }) != nil {
		t.Error("a run without GPUs looks for their memory")
	}
}
