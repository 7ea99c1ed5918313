package oom

import (
	"math"
	"testing"
)

func TestKillString(t *testing.T) {
	const gib = 1 << 30
	tests := []struct {
		kill Kill
		want string
	}{
		{Kill{Sure: true, Limit: 8 * gib, Peak: 8*gib - 4096}, "killed by the kernel for memory, cgroup limit 8 GiB, peak 8.0 GiB"},
		{Kill{Sure: true, Limit: 64 << 20, Peak: 64 << 20}, "killed by the kernel for memory, cgroup limit 64 MiB, peak 64.0 MiB"},
		{Kill{Sure: true, Limit: 3 * gib / 2}, "killed by the kernel for memory, cgroup limit 1.5 GiB"},
		{Kill{Sure: true, Peak: 3 * gib}, "killed by the kernel for memory, peak 3.0 GiB"},
		{Kill{Sure: true}, "killed by the kernel for memory"},
		{
			Kill{Source: "/proc/vmstat"},
			"probably killed by the kernel for memory (another process of this machine may have been meant)",
		},
		// What only the machine's counter told has no limit to blame.
		{
			Kill{Limit: gib, Peak: gib},
			"probably killed by the kernel for memory (another process of this machine may have been meant)",
		},
	}
	for _, tt := range tests {
		if got := tt.kill.String(); got != tt.want {
			t.Errorf("%+v:\n%s, want\n%s", tt.kill, got, tt.want)
		}
	}
}

func TestSize(t *testing.T) {
	tests := []struct {
		n              int64
		chosen, actual string
	}{
		{0, "0 bytes", "0 bytes"},
		{1023, "1023 bytes", "1023 bytes"},
		{1024, "1 KiB", "1.0 KiB"},
		{1536, "1.5 KiB", "1.5 KiB"},
		{1 << 20, "1 MiB", "1.0 MiB"},
		{1<<20 - 1, "1.0 MiB", "1.0 MiB"}, // not 1024.0 KiB
		{1000 << 20, "1000 MiB", "1000.0 MiB"},
		{8 << 30, "8 GiB", "8.0 GiB"},
		{8<<30 + 1, "8.0 GiB", "8.0 GiB"},
		{2 << 40, "2 TiB", "2.0 TiB"},
		{math.MaxInt64, "8.0 EiB", "8.0 EiB"},
	}
	for _, tt := range tests {
		if got := size(tt.n, true); got != tt.chosen {
			t.Errorf("limit of %d: %s, want %s", tt.n, got, tt.chosen)
		}
		if got := size(tt.n, false); got != tt.actual {
			t.Errorf("peak of %d: %s, want %s", tt.n, got, tt.actual)
		}
	}
}
