package detect

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestParseMemory(t *testing.T) {
	tests := []struct {
		text string
		want map[int]int64
	}{
		{"", map[int]int64{}},
		{"0, 3\n1, 81000\n", map[int]int64{0: 3 << 20, 1: 81000 << 20}},
		{"No devices were found\n", map[int]int64{}},
		{"0, [N/A]\n1, 5\nx, 5\n-1, 5\n2, -5\n3, 99999999999999999\n", map[int]int64{1: 5 << 20}},
	}
	for _, tt := range tests {
		if diff := cmp.Diff(tt.want, parseMemory(tt.text)); diff != "" {
			t.Errorf("%q (-want +got):\n%s", tt.text, diff)
		}
	}
}

func FuzzParseMemory(f *testing.F) {
	f.Add("0, 3\n1, 81000\n")
	f.Fuzz(func(t *testing.T, text string) {
		for index, used := range parseMemory(text) {
			if index < 0 || used < 0 {
				t.Errorf("GPU %d uses %d bytes", index, used)
			}
		}
	})
}

// program puts an nvidia-smi on a path of its own.
func program(t *testing.T, script string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "nvidia-smi"), []byte("#!/bin/sh\n"+script), 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestGPUMemory(t *testing.T) {
	used, err := GPUMemory(context.Background(), Host{Path: program(t, "echo '0, 7'")})
	if diff := cmp.Diff(map[int]int64{0: 7 << 20}, used); err != nil || diff != "" {
		t.Errorf("%v\n%s", err, diff)
	}
	if used, err := GPUMemory(context.Background(), Host{Path: t.TempDir()}); used != nil || err != nil {
		t.Errorf("without nvidia-smi: %v, %v", used, err)
	}
	if _, err := GPUMemory(context.Background(), Host{Path: program(t, "exit 9")}); err == nil {
		t.Error("a failing nvidia-smi is no error")
	}
	if _, err := GPUMemory(context.Background(), Host{Path: program(t, "sleep 60"), GPULimit: 50 * time.Millisecond}); err == nil {
		t.Error("a hanging nvidia-smi is no error")
	}
}
