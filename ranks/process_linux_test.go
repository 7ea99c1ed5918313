package ranks

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// procTree writes a /proc with the given parents, as seen by process self in
// the given pid namespace.
func procTree(t *testing.T, namespace string, parents map[int]int) string {
	t.Helper()
	root := t.TempDir()
	for pid, ppid := range parents {
		dir := filepath.Join(root, fmt.Sprint(pid))
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		// A program may be called anything, also this.
		stat := fmt.Sprintf("%d (a ) R 9 9 (b) S %d 1 1 0 -1", pid, ppid)
		if err := os.WriteFile(filepath.Join(dir, "stat"), []byte(stat), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.MkdirAll(filepath.Join(root, "self/ns"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(namespace, filepath.Join(root, "self/ns/pid")); err != nil {
		t.Fatal(err)
	}
	return root
}

func TestForeign(t *testing.T) {
	parents := map[int]int{1: 0, 10: 1, 20: 10, 30: 20, 40: 1, 50: 60}
	host := procTree(t, initialPidNamespace, parents)
	for _, test := range []struct {
		what      string
		self, pid int
		want      bool
	}{
		{"itself", 30, 30, false},
		{"its parent", 30, 20, false},
		{"an ancestor", 30, 10, false},
		{"pid 1", 30, 1, false},
		{"a process beside it", 30, 40, true},
		{"its child", 20, 30, true},
		{"a process that is gone", 30, 99, false},
		{"an ancestor that cannot be read", 50, 40, false},
	} {
		if got := foreign(host, test.self, test.pid); got != test.want {
			t.Errorf("%s: %v", test.what, got)
		}
	}
	container := procTree(t, "pid:[4026532001]", parents)
	if foreign(container, 30, 40) {
		t.Error("a pid of a container was compared with one of the host")
	}
	circle := procTree(t, initialPidNamespace, map[int]int{2: 3, 3: 2, 4: 1})
	if foreign(circle, 2, 4) {
		t.Error("a circle of parents was taken for an answer")
	}
	if foreign(t.TempDir(), 2, 4) {
		t.Error("without a /proc something was foreign")
	}
}

func TestForeignRejectsABrokenStat(t *testing.T) {
	host := procTree(t, initialPidNamespace, map[int]int{40: 1, 30: 1})
	for _, stat := range []string{"", "30", "30 (x)", "30 (x) S", "30 (x) S y 1"} {
		if err := os.WriteFile(filepath.Join(host, "30/stat"), []byte(stat), 0o644); err != nil {
			t.Fatal(err)
		}
		if foreign(host, 30, 40) {
			t.Errorf("%q was taken for an answer", stat)
		}
	}
}

// The real /proc: this process, its parent and a child of it. Where the tests
// run in a container nothing is ever foreign, and that is the right answer too.
func TestForeignProcess(t *testing.T) {
	if ForeignProcess(os.Getpid()) || ForeignProcess(os.Getppid()) {
		t.Error("this process or its parent is foreign")
	}
	child := exec.Command("cat")
	in, err := child.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	namespace, _ := os.Readlink("/proc/self/ns/pid")
	if got := ForeignProcess(child.Process.Pid); got != (namespace == initialPidNamespace) {
		t.Errorf("a child, in pid namespace %q: foreign is %v", namespace, got)
	}
	if err := in.Close(); err != nil {
		t.Error(err)
	}
	if err := child.Wait(); err != nil {
		t.Error(err)
	}
}

// Slurm's process writes over its arguments what it runs.
func TestStepAbove(t *testing.T) {
	host := procTree(t, "pid:[4026532001]", map[int]int{1: 0, 10: 1, 20: 10, 30: 20, 40: 30, 50: 60})
	title := func(pid int, text string) {
		if err := os.WriteFile(filepath.Join(host, fmt.Sprint(pid), "cmdline"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	title(40, "sh\x00-c\x00slurmstepd: [9.9]\x00")
	title(20, "slurmstepd: [5.batch]\x00\x00   ")
	title(10, "slurmstepd: [4.0]")
	if got := stepAbove(host, 40); got != "5.batch" {
		t.Errorf("the nearest: %q", got)
	}
	title(20, "slurmstepd: [5")
	if got := stepAbove(host, 40); got != "4.0" {
		t.Errorf("a title without its end: %q", got)
	}
	for _, self := range []int{1, 50, 99} {
		if got := stepAbove(host, self); got != "" {
			t.Errorf("above %d: %q", self, got)
		}
	}
}
