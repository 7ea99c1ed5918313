package harness

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"lenslaunch/internal/cgroup"
)

// MemoryGroup makes a control group with a memory limit in bytes, by whichever version
// counts memory here, or says what is missing. It is removed when the test ends.
func MemoryGroup(t testing.TB, bytes int) (dir, missing string) {
	t.Helper()
	if os.Geteuid() != 0 {
		return "", "needs root, to make a group with a memory limit"
	}
	top, limit, missing := memoryHierarchy()
	if missing != "" {
		return "", missing
	}
	dir = filepath.Join(top, fmt.Sprintf("test-%d-%d", os.Getpid(), time.Now().UnixNano()))
	if err := os.Mkdir(dir, 0o755); err != nil {
		return "", fmt.Sprintf("cannot make a memory group: %v", err)
	}
	t.Cleanup(func() {
		if err := os.Remove(dir); err != nil {
			t.Errorf("a memory group is left over: %v", err)
		}
	})
	set := func(file string) error {
		return os.WriteFile(filepath.Join(dir, file), []byte(strconv.Itoa(bytes)), 0)
	}
	if err := set(limit); err != nil {
		return "", fmt.Sprintf("cannot set a memory limit: %v", err)
	}
	// Swapping is no way out; a machine without swap may not have these.
	_ = os.WriteFile(filepath.Join(dir, "memory.swap.max"), []byte("0"), 0)
	_ = set("memory.memsw.limit_in_bytes")
	return dir, ""
}

func memoryHierarchy() (top, limit, missing string) {
	mountinfo, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return "", "", err.Error()
	}
	membership, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return "", "", err.Error()
	}
	if places, err := cgroup.Places(string(mountinfo), string(membership), ""); err == nil {
		text, _ := os.ReadFile(filepath.Join(places[0].Top, "cgroup.subtree_control"))
		if strings.Contains(" "+strings.TrimSpace(string(text))+" ", " memory ") {
			return places[0].Top, "memory.max", ""
		}
	}
	places, err := cgroup.Places(string(mountinfo), string(membership), "memory")
	if err != nil {
		return "", "", fmt.Sprintf("the memory controller is enabled in no version: %v", err)
	}
	return places[0].Top, "memory.limit_in_bytes", ""
}
