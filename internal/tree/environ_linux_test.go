package tree

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lenslaunch/internal/proc"
)

// The environment that a process was started with is read whole, however long it is:
// the mark is its last entry.
func TestReadEnviron(t *testing.T) {
	s := open(t, launcherCommand("none"), 1)
	long := "LONG=" + strings.Repeat("x", 100<<10) // one entry may have 128 KiB
	id := s.sibling("A=1", long, "B=2", "C="+long, "D="+long, Variable+"="+sample().Value(3))
	got := readEnviron(proc.Stat{ID: id, State: 'S'}, []byte("what was there before"))
	if !strings.HasPrefix(string(got), "A=1\x00"+long+"\x00B=2\x00") {
		t.Errorf("%d bytes, %.40q", len(got), got)
	}
	if mark, local, ok := markOf(got); !ok || mark != sample() || local != 3 {
		t.Errorf("MarkOf = %v, %d, %v", mark, local, ok)
	}
}

func TestReadEnvironOfNobody(t *testing.T) {
	if got := readEnviron(proc.Stat{ID: proc.ID{Pid: 1 << 30}}, []byte("x")); len(got) != 0 {
		t.Errorf("%q", got)
	}
}

// What is longer than an environment can be is not read to its end.
func TestReadIntoIsBounded(t *testing.T) {
	name := filepath.Join(t.TempDir(), "environ")
	for size, want := range map[int64]int{0: 0, 100: 100, 1 << 20: 1 << 20, mostEnviron + 1: 0} {
		f, err := os.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := f.Truncate(size); err != nil {
			t.Fatal(err)
		}
		f.Close()
		if got := readInto(name, nil); len(got) != want {
			t.Errorf("%d of %d bytes", len(got), size)
		}
	}
	if got := readInto(t.TempDir(), []byte("x")); len(got) != 0 { // a directory: an error in the middle
		t.Errorf("%q", got)
	}
}

func TestFirstFrame(t *testing.T) {
	for stack, want := range map[string]string{
		"[<0>] do_wait+0x53/0x120\n[<0>] kernel_wait4+0x9c/0x140\n": "do_wait",
		"[<ffffffff81>] nfs_wait+0x1/0x2 [nfs]\n":                   "nfs_wait",
		"[<0>] schedule": "schedule",
		"":               "",
		"\n":             "",
	} {
		if got := firstFrame(stack); got != want {
			t.Errorf("firstFrame(%q) = %q", stack, got)
		}
	}
}

func FuzzFirstFrame(f *testing.F) {
	f.Add("[<0>] do_wait+0x53/0x120\n")
	f.Fuzz(func(t *testing.T, stack string) {
		if got := firstFrame(stack); strings.Contains(got, "\n") {
			t.Errorf("%q", got)
		}
	})
}
