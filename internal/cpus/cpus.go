// Package cpus tells how many CPUs this process may use: those of its affinity
// mask, and no more than the CPU quota of its control groups, rounded up.
//
// It changes nothing. A machine, container or kernel that does not tell gives the
// count of the Go runtime. Source: the launch specification, OMP_NUM_THREADS.
package cpus

import (
	"bufio"
	"io/fs"
	"path"
	"runtime"
	"strconv"
	"strings"
)

// Usable is the number of CPUs, at least 1. root is the root of the file system
// (os.DirFS("/") in production).
func Usable(root fs.FS) int {
	n := runtime.NumCPU() // the affinity mask at start
	if q, ok := Quota(root); ok && q < n {
		n = q
	}
	return max(n, 1)
}

// Quota is the smallest CPU quota of this process's control groups in whole CPUs,
// rounded up; false without one.
func Quota(root fs.FS) (int, bool) {
	text, err := fs.ReadFile(root, "proc/self/cgroup")
	if err != nil {
		return 0, false
	}
	best, found := 0, false
	sc := bufio.NewScanner(strings.NewReader(string(text)))
	for sc.Scan() {
		// hierarchy:controllers:path; version 2 has no controllers.
		parts := strings.SplitN(sc.Text(), ":", 3)
		if len(parts) != 3 {
			continue
		}
		for _, q := range quotas(root, parts[1], parts[2]) {
			if !found || q < best {
				best, found = q, true
			}
		}
	}
	return best, found
}

// quotas reads the limits of one group and of every group above it.
func quotas(root fs.FS, controllers, group string) []int {
	var mounts []string
	read := version1
	switch {
	case controllers == "":
		mounts, read = []string{"sys/fs/cgroup", "sys/fs/cgroup/unified"}, version2
	case hasController(controllers, "cpu"):
		mounts = []string{"sys/fs/cgroup/cpu", "sys/fs/cgroup/cpu,cpuacct"}
	}
	var out []int
	for _, mount := range mounts {
		for dir := path.Clean("/" + group); ; dir = path.Dir(dir) {
			if q, ok := read(root, path.Join(mount, dir)); ok {
				out = append(out, q)
			}
			if dir == "/" {
				break
			}
		}
	}
	return out
}

func hasController(list, name string) bool {
	for _, c := range strings.Split(list, ",") {
		if c == name {
			return true
		}
	}
	return false
}

// version2 reads cpu.max: "max 100000" or "150000 100000".
func version2(root fs.FS, dir string) (int, bool) {
	text, err := fs.ReadFile(root, path.Join(dir, "cpu.max"))
	if err != nil {
		return 0, false
	}
	fields := strings.Fields(string(text))
	if len(fields) != 2 {
		return 0, false
	}
	return ratio(fields[0], fields[1])
}

// version1 reads cpu.cfs_quota_us (-1: none) and cpu.cfs_period_us.
func version1(root fs.FS, dir string) (int, bool) {
	quota, err := fs.ReadFile(root, path.Join(dir, "cpu.cfs_quota_us"))
	if err != nil {
		return 0, false
	}
	period, err := fs.ReadFile(root, path.Join(dir, "cpu.cfs_period_us"))
	if err != nil {
		return 0, false
	}
	return ratio(strings.TrimSpace(string(quota)), strings.TrimSpace(string(period)))
}

// ratio is quota/period rounded up; false if there is no limit.
func ratio(quota, period string) (int, bool) {
	q, errQ := strconv.ParseInt(quota, 10, 64)
	p, errP := strconv.ParseInt(period, 10, 64)
	if errQ != nil || errP != nil || q <= 0 || p <= 0 {
		return 0, false
	}
	return int((q-1)/p) + 1, true
}
