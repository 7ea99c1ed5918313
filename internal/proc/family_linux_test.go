package proc

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestDead(t *testing.T) {
	tests := map[string]struct {
		st   Stat
		want bool
	}{
		"running":                       {Stat{State: 'R', Threads: 1}, false},
		"uninterruptible":               {Stat{State: 'D', Threads: 1}, false},
		"stopped":                       {Stat{State: 'T', Threads: 1}, false},
		"zombie":                        {Stat{State: 'Z', Threads: 1}, true},
		"zombie that is reaped already": {Stat{State: 'Z', Threads: 0}, true},
		"only the first thread ended":   {Stat{State: 'Z', Threads: 2}, false},
		"dead":                          {Stat{State: 'X', Threads: 1}, true},
	}
	for name, tt := range tests {
		if got := tt.st.Dead(); got != tt.want {
			t.Errorf("%s: Dead = %v", name, got)
		}
	}
}

// A process whose main called pthread_exit looks like a zombie, and lives.
func TestMainThreadEnded(t *testing.T) {
	s := spawner(t)
	c, _ := startReady(t, s, "lose-main-thread")
	st, err := ReadStat(c.Pid)
	if err != nil || st.State != 'Z' || st.Threads < 2 || !c.ID.Alive() {
		t.Errorf("state %c, %d threads, alive %v, %v", st.State, st.Threads, c.ID.Alive(), err)
	}
	h, err := Hold(c.ID)
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	if h.Gone() {
		t.Error("gone while threads run")
	}
	if err := h.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Wait(); err != nil {
		t.Fatal(err)
	}
	if !h.Gone() || c.ID.Alive() {
		t.Error("alive after SIGKILL")
	}
	c.Reap()
}

func TestAll(t *testing.T) {
	s := spawner(t)
	c, err := s.Start(helper("exit", "0"))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Reap()
	if _, err := c.Wait(); err != nil {
		t.Fatal(err)
	}
	all, err := All()
	if err != nil {
		t.Fatal(err)
	}
	found := map[ID]Stat{}
	for _, st := range all {
		found[st.ID] = st
		if st.Kernel {
			t.Errorf("a kernel thread: %+v", st)
		}
	}
	if st := found[c.ID]; !st.Dead() || st.Parent != os.Getpid() {
		t.Errorf("the zombie child is shown as %+v", st)
	}
}

func TestDescendants(t *testing.T) {
	s := spawner(t)
	c, line := startReady(t, s, "fork-hang")
	defer func() {
		_ = c.SignalGroup(syscall.SIGKILL)
		_, _ = c.Wait()
		c.Reap()
	}()
	grandchild, err := strconv.Atoi(line)
	if err != nil {
		t.Fatal(err)
	}
	self, err := ReadStat(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	list, err := Descendants(self.ID, nil)
	if err != nil {
		t.Fatal(err)
	}
	child, below := slices.Index(pidsOf(list), c.Pid), slices.Index(pidsOf(list), grandchild)
	if child < 0 || below < child {
		t.Errorf("child %d and grandchild %d, parents first: %v", c.Pid, grandchild, list)
	}
	if list, err := Descendants(c.ID, nil); err != nil || !cmp.Equal(pidsOf(list), []int{grandchild}) {
		t.Errorf("below the child: %v, %v", list, err)
	}
	list, err = Descendants(self.ID, func(id ID) bool { return id == c.ID })
	if err != nil || slices.Contains(pidsOf(list), c.Pid) || slices.Contains(pidsOf(list), grandchild) {
		t.Errorf("skipped, and still there: %v, %v", list, err)
	}
}

// A recycled pid is not the process that had it before (golang/go#16028).
func TestDescendantsOfRecycledPid(t *testing.T) {
	self, err := ReadStat(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	self.Start--
	if list, err := Descendants(self.ID, nil); !errors.Is(err, os.ErrNotExist) || len(list) > 0 {
		t.Errorf("Descendants = %v, %v", list, err)
	}
}

func pidsOf(list []Stat) []int {
	var pids []int
	for _, st := range list {
		pids = append(pids, st.Pid)
	}
	return pids
}

// layOut makes a proc file system of processes "pid parent state" and, if asked for,
// the kernel's lists of children, as given.
func layOut(t *testing.T, processes []string, children map[int]string) procfs {
	t.Helper()
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("uptime", "1 1")
	for _, p := range processes {
		f := strings.Fields(p)
		write(f[0]+"/stat", fmt.Sprintf("%s (x) %s %s 1 1 0 -1 %s 0 0 0 0 0 0 0 0 20 0 1 0 1%s 1", f[0], f[2], f[1], f[3], f[0]))
		pid, _ := strconv.Atoi(f[0])
		write(f[0]+"/task/"+f[0]+"/comm", "x")
		if children != nil {
			write("thread-self/children", "")
			write(f[0]+"/task/"+f[0]+"/children", children[pid])
		}
	}
	return procfs(dir)
}

// One family, seen with and without the kernel's lists of children: 10 has 20 and 30,
// 20 has 40, and 50 belongs to somebody else. 2 is a kernel thread, 60 a zombie.
func TestWalkKinds(t *testing.T) {
	const kernel = "2097152"
	processes := []string{
		"2 0 S " + kernel, "10 1 S 0", "20 10 S 0", "30 10 S 0", "40 20 S 0", "50 1 S 0", "60 30 Z 0",
	}
	root := ID{10, 110}
	tests := map[string]map[int]string{
		"scan":  nil,
		"lists": {10: "20 30", 20: "40 ", 30: "60"},
		// Hints may be stale: 50 has another parent by now, 70 has ended.
		"stale lists": {10: "20 30 50 70", 20: "40", 30: "60", 40: "10 20"},
	}
	for name, children := range tests {
		t.Run(name, func(t *testing.T) {
			p := layOut(t, processes, children)
			var met []string
			err := p.walk(root, func(st Stat) bool {
				met = append(met, fmt.Sprintf("%d %c", st.Pid, st.State))
				return true
			})
			slices.Sort(met)
			if diff := cmp.Diff([]string{"20 S", "30 S", "40 S", "60 Z"}, met); diff != "" || err != nil {
				t.Errorf("%v, -want +got:\n%s", err, diff)
			}
		})
	}
}

// The youngest come first, also after pids have begun anew: they are the ones that may
// be gone in a moment.
func TestScanOrder(t *testing.T) {
	processes := []string{"10 1 S 0", "20 1 S 0", "30 1 S 0", "40 1 S 0"}
	for loadavg, want := range map[string][]int{
		"":                           {40, 30, 20, 10},
		"0.1 0.2 0.3 1/200 40\n":     {40, 30, 20, 10},
		"0.1 0.2 0.3 1/200 99\n":     {40, 30, 20, 10},
		"0.1 0.2 0.3 1/200 20\n":     {20, 10, 40, 30},
		"0.1 0.2 0.3 1/200 nonsense": {40, 30, 20, 10},
	} {
		p := layOut(t, processes, nil)
		if err := os.WriteFile(string(p)+"/loadavg", []byte(loadavg), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Mkdir(p.path(35), 0o700); err != nil { // has no state: it has ended
			t.Fatal(err)
		}
		var got []int
		gone, err := p.scan(func(st Stat) { got = append(got, st.Pid) })
		if diff := cmp.Diff(want, got); diff != "" || gone != 1 || err != nil {
			t.Errorf("%q: gone %d, %v, -want +got:\n%s", loadavg, gone, err, diff)
		}
	}
}

// A parent whose pid went to another process while its children were read has none.
func TestKidsOfRecycledParent(t *testing.T) {
	p := layOut(t, []string{"10 1 S 0", "20 10 S 0"}, nil)
	hint := func(int) ([]int, error) { return []int{20}, nil }
	if kids, err := p.kids(ID{10, 110}, hint); err != nil || len(kids) != 1 {
		t.Errorf("kids = %v, %v", kids, err)
	}
	if kids, err := p.kids(ID{10, 109}, hint); !Gone(err) || len(kids) != 0 {
		t.Errorf("kids of a recycled pid = %v, %v", kids, err)
	}
}

// What cannot be read is an error, never an empty family.
func TestNoProc(t *testing.T) {
	p := procfs(t.TempDir() + "/none")
	if _, err := p.all(); err == nil {
		t.Error("all: no error")
	}
	if err := p.walk(ID{10, 110}, func(Stat) bool { return true }); err == nil {
		t.Error("walk: no error")
	}
	p = layOut(t, []string{"10 1 S 0"}, nil)
	if err := os.WriteFile(p.path(10)+"/stat", []byte("nonsense"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := p.all(); err == nil {
		t.Error("all with an unreadable state: no error")
	}
}

func TestGone(t *testing.T) {
	for err, want := range map[error]bool{
		os.ErrNotExist: true, syscall.ESRCH: true, os.ErrProcessDone: true, syscall.ENOENT: true,
		syscall.EMFILE: false, syscall.EPERM: false, exec.ErrNotFound: false,
	} {
		if Gone(fmt.Errorf("wrapped: %w", err)) != want {
			t.Errorf("Gone(%v) = %v", err, !want)
		}
	}
	if Gone(nil) {
		t.Error("Gone(nil)")
	}
}

// Now and the start times of processes are of one clock.
func TestNow(t *testing.T) {
	before, err := Now()
	if err != nil {
		t.Fatal(err)
	}
	s := spawner(t)
	c, err := s.Start(helper("exit", "0"))
	if err != nil {
		t.Fatal(err)
	}
	after, err := Now()
	if err != nil || c.Start < before || c.Start > after {
		t.Errorf("started at %d, between %d and %d, %v", c.Start, before, after, err)
	}
	if _, err := c.Wait(); err != nil {
		t.Error(err)
	}
	c.Reap()
}
