package detect

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestParseProcesses(t *testing.T) {
	tests := []struct {
		text string
		want map[int]int64
	}{
		{"", map[int]int64{}},
		{"4711, 3\n4712, 81000\n", map[int]int64{4711: 3 << 20, 4712: 81000 << 20}},
		{"4711, 3\n4711, 4\n", map[int]int64{4711: 7 << 20}}, // on two GPUs
		{"No running processes found\n", map[int]int64{}},
		{"4711, [N/A]\n4712, 5\nx, 5\n-1, 5\n0, 5\n2, -5\n3, 99999999999999999\n99999999999, 1\n", map[int]int64{4712: 5 << 20}},
	}
	for _, tt := range tests {
		if diff := cmp.Diff(tt.want, parseProcesses(tt.text)); diff != "" {
			t.Errorf("%q (-want +got):\n%s", tt.text, diff)
		}
	}
}

func FuzzParseProcesses(f *testing.F) {
	f.Add("4711, 3\n4711, 81000\n")
	f.Fuzz(func(t *testing.T, text string) {
		for pid, used := range parseProcesses(text) {
			if pid <= 0 || used < 0 {
				t.Errorf("pid %d uses %d bytes", pid, used)
			}
		}
	})
}

func TestGPUProcesses(t *testing.T) {
	// It says what it was asked: another question would be answered otherwise.
	path := program(t, `[ "$1" = --query-compute-apps=pid,used_memory ] && echo '4711, 7'`)
	used, err := GPUProcesses(t.Context(), Host{Path: path})
	if diff := cmp.Diff(map[int]int64{4711: 7 << 20}, used); err != nil || diff != "" {
		t.Errorf("%v\n%s", err, diff)
	}
	if used, err := GPUProcesses(t.Context(), Host{Path: t.TempDir()}); used != nil || err != nil {
		t.Errorf("without nvidia-smi: %v, %v", used, err)
	}
	if _, err := GPUProcesses(t.Context(), Host{Path: program(t, "exit 9")}); err == nil {
		t.Error("a failing nvidia-smi is no error")
	}
	began := time.Now()
	if _, err := GPUProcesses(t.Context(), Host{Path: program(t, "exec sleep 60"), GPULimit: 50 * time.Millisecond}); err == nil {
		t.Error("a hanging nvidia-smi is no error")
	}
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("it took %v", took)
	}
}
