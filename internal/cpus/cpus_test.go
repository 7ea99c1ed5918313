package cpus

import (
	"testing"
	"testing/fstest"
)

func TestQuota(t *testing.T) {
	file := func(s string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(s)} }
	tests := []struct {
		name string
		fs   fstest.MapFS
		want int
		ok   bool
	}{
		{"nothing known", fstest.MapFS{}, 0, false},
		{"version 2 without a limit", fstest.MapFS{
			"proc/self/cgroup":        file("0::/a\n"),
			"sys/fs/cgroup/a/cpu.max": file("max 100000\n"),
		}, 0, false},
		{"version 2, one and a half CPUs are two", fstest.MapFS{
			"proc/self/cgroup":        file("0::/a\n"),
			"sys/fs/cgroup/a/cpu.max": file("150000 100000\n"),
		}, 2, true},
		{"the parent's limit counts", fstest.MapFS{
			"proc/self/cgroup":          file("0::/a/b\n"),
			"sys/fs/cgroup/a/cpu.max":   file("200000 100000\n"),
			"sys/fs/cgroup/a/b/cpu.max": file("800000 100000\n"),
		}, 2, true},
		{"hybrid: version 1 beside an empty version 2", fstest.MapFS{
			"proc/self/cgroup": file("4:cpu,cpuacct:/x\n0::/\n"),
			"sys/fs/cgroup/cpu,cpuacct/x/cpu.cfs_quota_us":  file("300000\n"),
			"sys/fs/cgroup/cpu,cpuacct/x/cpu.cfs_period_us": file("100000\n"),
		}, 3, true},
		{"version 1 without a limit", fstest.MapFS{
			"proc/self/cgroup":                    file("4:cpu:/\n"),
			"sys/fs/cgroup/cpu/cpu.cfs_quota_us":  file("-1\n"),
			"sys/fs/cgroup/cpu/cpu.cfs_period_us": file("100000\n"),
		}, 0, false},
		{"nonsense is no limit", fstest.MapFS{
			"proc/self/cgroup":        file("0::/a\nnonsense\n"),
			"sys/fs/cgroup/a/cpu.max": file("x y z\n"),
		}, 0, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, ok := Quota(tt.fs)
			if got != tt.want || ok != tt.ok {
				t.Errorf("Quota = %d, %v, want %d, %v", got, ok, tt.want, tt.ok)
			}
			if n := Usable(tt.fs); n < 1 || tt.ok && n > tt.want {
				t.Errorf("Usable = %d with a quota of %d", n, tt.want)
			}
		})
	}
}
