package oom

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"lenslaunch/internal/cgroup"
)

// TestMain makes the test binary its own helper: behaviours by name.
func TestMain(m *testing.M) {
	switch os.Getenv("OOM_TEST_HELPER") {
	case "watch-inside": // the watcher and what is killed are in the group
		os.Exit(watch(os.Args[1], ""))
	case "watch-outside": // only what is killed is
		os.Exit(watch("", os.Args[1]))
	case "allocate":
		os.Exit(allocate(os.Args[1]))
	}
	os.Exit(m.Run())
}

// found is what a helper reports.
type found struct {
	Kill Kill
	OK   bool
}

// watch starts a child that is killed for memory, and prints the explanation as
// JSON. An empty group means: stay where you are.
func watch(own, child string) int {
	if err := enter(own); err != nil {
		return complain(err)
	}
	w := Watch("/")
	if k, ok := w.Explain(); ok {
		return complain(fmt.Errorf("explained before anything happened: %+v", k))
	}
	err := helper("allocate", child).Run()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
		return complain(fmt.Errorf("the child was not killed: %w", err))
	}
	var f found
	f.Kill, f.OK = w.Explain()
	if err := json.NewEncoder(os.Stdout).Encode(f); err != nil {
		return complain(err)
	}
	return 0
}

func complain(err error) int {
	fmt.Fprintln(os.Stderr, err)
	return 9
}

func enter(group string) error {
	if group == "" {
		return nil
	}
	return os.WriteFile(filepath.Join(group, "cgroup.procs"), []byte("0"), 0)
}

// allocate takes memory until it is killed, and never more than a small machine has.
func allocate(group string) int {
	// Be the victim, not the watcher beside us.
	if err := errors.Join(enter(group), os.WriteFile("/proc/self/oom_score_adj", []byte("1000"), 0)); err != nil {
		return complain(err)
	}
	const step, most = 1 << 20, 256 << 20
	for n := 0; n < most; n += step {
		const flags = unix.MAP_PRIVATE | unix.MAP_ANONYMOUS | unix.MAP_POPULATE
		if _, err := unix.Mmap(-1, 0, step, unix.PROT_READ|unix.PROT_WRITE, flags); err != nil {
			return complain(err)
		}
	}
	return 7
}

func helper(behaviour, group string) *exec.Cmd {
	cmd := exec.Command("/proc/self/exe", group)
	cmd.Env = append(os.Environ(), "OOM_TEST_HELPER="+behaviour, "GORACE=atexit_sleep_ms=0")
	return cmd
}

const testLimit = 64 << 20

// memoryGroup makes a group with a limit, by whichever version counts memory here;
// it is removed when the test ends. Or it skips and says what is missing.
func memoryGroup(t *testing.T) (dir string, version files) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("needs root, to make a group with a memory limit")
	}
	top, version := memoryHierarchy(t)
	dir = filepath.Join(top, fmt.Sprintf("lenslaunch-oomtest-%d-%d", os.Getpid(), time.Now().UnixNano()))
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Skipf("cannot make a memory group: %v", err)
	}
	t.Cleanup(func() {
		if err := os.Remove(dir); err != nil {
			t.Errorf("a group is left over: %v", err)
		}
	})
	set := func(file, value string) error { return os.WriteFile(filepath.Join(dir, file), []byte(value), 0) }
	if err := set(version.limit, strconv.Itoa(testLimit)); err != nil {
		t.Skipf("cannot set a memory limit: %v", err)
	}
	// Swapping is no way out; a machine without swap may not have these.
	_ = set("memory.swap.max", "0")
	_ = set("memory.memsw.limit_in_bytes", strconv.Itoa(testLimit))
	return dir, version
}

func memoryHierarchy(t *testing.T) (top string, version files) {
	t.Helper()
	mountinfo, errMounts := os.ReadFile("/proc/self/mountinfo")
	membership, errOwn := os.ReadFile("/proc/self/cgroup")
	if err := errors.Join(errMounts, errOwn); err != nil {
		t.Fatal(err)
	}
	if places, err := cgroup.Places(string(mountinfo), string(membership), ""); err == nil {
		text, _ := os.ReadFile(filepath.Join(places[0].Top, "cgroup.subtree_control"))
		if strings.Contains(" "+strings.TrimSpace(string(text))+" ", " memory ") {
			return places[0].Top, version2
		}
	}
	places, err := cgroup.Places(string(mountinfo), string(membership), "memory")
	if err != nil {
		t.Skipf("the memory controller is enabled in no version: %v", err)
	}
	return places[0].Top, version1
}

func explain(t *testing.T, behaviour, group string) found {
	t.Helper()
	out, err := helper(behaviour, group).Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		t.Fatalf("%v: %s", err, exit.Stderr)
	}
	if err != nil {
		t.Fatal(err)
	}
	var f found
	if err := json.Unmarshal(out, &f); err != nil {
		t.Fatalf("%v in %q", err, out)
	}
	return f
}

// MGSV#2: "exit code -9" and nobody knew why. A real kill, by a real limit.
func TestRealKillIsExplained(t *testing.T) {
	group, version := memoryGroup(t)
	got := explain(t, "watch-inside", group)
	want := found{OK: true, Kill: Kill{Sure: true, Limit: testLimit, Peak: got.Kill.Peak, Source: filepath.Join(group, version.kills)}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatal(diff)
	}
	if version.peak == version1.peak && got.Kill.Peak < testLimit*9/10 || got.Kill.Peak > testLimit {
		t.Errorf("peak %d of %d", got.Kill.Peak, testLimit)
	}
	if text := got.Kill.String(); !strings.HasPrefix(text, "killed by the kernel for memory, cgroup limit 64 MiB") {
		t.Error(text)
	}
}

// A rank that somebody moved to a group of its own: only the machine's counter
// tells. (With version 2 and the watcher above that group it would be sure; the
// test's group lies beside it.)
func TestRealKillElsewhereIsProbable(t *testing.T) {
	group, _ := memoryGroup(t)
	got := explain(t, "watch-outside", group)
	if diff := cmp.Diff(found{OK: true, Kill: Kill{Source: vmstat}}, got); diff != "" {
		t.Error(diff)
	}
}

// containerd#9218, flux-core#5361: a SIGKILL that somebody sent is none of memory.
func TestSentKillIsNotExplained(t *testing.T) {
	w := Watch("/")
	cmd := exec.Command("sleep", "60")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	if k, ok := w.Explain(); ok && k.Sure {
		t.Errorf("Explain = %+v", k)
	}
}
