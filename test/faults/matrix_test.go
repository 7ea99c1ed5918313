//go:build faults && linux

package faults

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"lenslaunch/test/harness"
)

// cell is what became of one job.
type cell struct {
	before    int       // processes alive before the end, without launcher and guard
	orphans   int       // alive between two launchers, where both launcher and guard were killed
	left      []process // alive after it
	zombies   int
	ports     int
	groups    int
	took      time.Duration // from the end until nothing was left
	begun     bool          // it was tried
	untried   string        // why it could not be
	reachable bool          // it was measured to its end
}

func (c *cell) survived(list []process) { c.left = append(c.left, list...) }

// String is the cell as the matrix shows it: before, and what is left.
func (c *cell) String() string {
	switch {
	case !c.begun, c.untried != "":
		return "-"
	case !c.reachable:
		return "FAILED"
	}
	text := strconv.Itoa(c.before)
	if c.orphans > 0 {
		text += ">" + strconv.Itoa(c.orphans)
	}
	return fmt.Sprintf("%s:%d/%d/%d/%d", text, len(c.left), c.zombies, c.ports, c.groups)
}

// TestMatrix ends a job of two ranks in every way, with every kind of offspring, with
// and without control groups and root, and counts what is left: nothing.
func TestMatrix(t *testing.T) {
	use := newTools(t, harness.Binary())
	use.bystander = startBystander(t)
	for _, set := range settings() {
		table := map[string]map[string]*cell{}
		t.Run(set.name, func(t *testing.T) {
			if set.missing != "" {
				t.Skip("not tried:", set.missing)
			}
			for _, e := range ends() {
				table[e.name] = map[string]*cell{}
				for _, k := range kinds() {
					c := &cell{}
					table[e.name][k.name] = c
					t.Run(e.name+"/"+k.name, func(t *testing.T) { try(t, use, set, e, k, c) })
				}
			}
		})
		t.Log(draw(set, table))
	}
}

// try measures one cell.
func try(t *testing.T, use tools, set setting, e end, k kind, c *cell) {
	s := measure(t, use, set, e, k, c)
	if c.untried != "" {
		t.Skip(c.untried)
	}
	if c.before == 0 {
		t.Error("nothing was alive before the end: this proves nothing")
	}
	if !e.killed {
		if code := exitCode(s.launcher); code != e.code {
			t.Errorf("exit code %d, want %d", code, e.code)
		}
		if !strings.Contains(s.said(), e.says) {
			t.Errorf("the launcher does not say %q", e.says)
		}
	}
	for _, p := range c.left {
		t.Errorf("left: %v", p)
	}
	if c.zombies+c.ports+c.groups > 0 {
		t.Errorf("left: %d zombies, %d ports, %d control groups", c.zombies, c.ports, c.groups)
	}
	if t.Failed() {
		t.Logf("the launcher's stderr:\n%s", s.said())
	}
}

// memoryLimit holds the launcher, its guard and some helpers, and not much more.
const memoryLimit = 96 << 20

// measure brings the end about and counts.
func measure(t *testing.T, use tools, set setting, e end, k kind, c *cell) *scene {
	c.begun = true
	memory := ""
	if e.memory {
		if memory, c.untried = harness.MemoryGroup(t, memoryLimit); c.untried != "" {
			return nil
		}
	}
	s := newScene(t, use, set)
	s.memory = memory
	s.begin(k, e.flags...)
	c.before = s.before()
	began := time.Now()
	e.bring(s, c)
	if e.killed {
		c.survived(s.settle(set.settle))
	} else {
		// At once: a launcher that has ended has left nothing.
		alive, zombies := s.found(true)
		c.survived(alive)
		c.zombies += len(zombies)
	}
	c.took = time.Since(began)
	for _, l := range s.lives {
		if len(c.left) == 0 && !l.goneSoon(t) {
			t.Errorf("a process of rank %d lives, unseen", l.Rank)
		}
	}
	if !bindable(s.rank(0).Port) {
		c.ports++
	}
	c.groups = len(groupsOf(s.launchers))
	if s.bystander != 0 && !running(s.bystander) {
		t.Error("the bystander was ended, who has nothing to do with the job")
	}
	c.reachable = true
	return s
}

// before counts the job's processes, and makes sure that those that reported are
// among them.
func (s *scene) before() int {
	s.Helper()
	alive, _ := s.found(false)
	for _, l := range s.lives {
		for _, pid := range append(slices.Clone(l.Offspring), l.Pid) {
			if !slices.ContainsFunc(alive, func(p process) bool { return p.pid == pid }) {
				s.Errorf("process %d of rank %d is not there before the end", pid, l.Rank)
			}
		}
	}
	return len(alive)
}

// goneSoon waits for the goroutine that sees the end of the connection.
func (l *life) goneSoon(t *testing.T) bool {
	select {
	case <-l.gone:
		return true
	case <-time.After(settleLimit):
		return false
	case <-t.Context().Done():
		return false
	}
}

func running(pid int) bool {
	p, ok := readProcess("/proc/" + strconv.Itoa(pid))
	return ok && !p.zombie()
}

// startBystander starts a process in the session of the launchers that looks like one
// of theirs: by its name, and by a mark in its environment, of somebody else's attempt.
func startBystander(t *testing.T) int {
	t.Helper()
	helper, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(helper)
	cmd.Args[0] = "lenslaunch"
	cmd.Env = append(os.Environ(), roleVariable+"=bystander", "RANK=0", "LENSLAUNCH_ATTEMPT=0",
		fmt.Sprintf("LENSLAUNCH_MARK=ll1.%d.1.%s.1.abc/0", os.Getpid(), strings.Repeat("0", 32)))
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		stdin.Close()
		if err := cmd.Wait(); err != nil {
			t.Errorf("the bystander: %v", err)
		}
	})
	return cmd.Process.Pid
}

// draw shows a matrix.
func draw(set setting, table map[string]map[string]*cell) string {
	var b strings.Builder
	fmt.Fprintf(&b, "\n%s (alive before:survivors/zombies/ports/control groups left; A>B: B alive until the next launcher)\n", set.name)
	if set.missing != "" {
		fmt.Fprintf(&b, "not tried: %s\n", set.missing)
		return b.String()
	}
	fmt.Fprintf(&b, "%-16s", "")
	for _, k := range kinds() {
		fmt.Fprintf(&b, " %13s", k.name)
	}
	fmt.Fprintf(&b, " %13s\n", "slowest end")
	for _, e := range ends() {
		fmt.Fprintf(&b, "%-16s", e.name)
		slowest := time.Duration(0)
		for _, k := range kinds() {
			c := table[e.name][k.name]
			if c == nil {
				c = &cell{} // filtered
			}
			slowest = max(slowest, c.took)
			fmt.Fprintf(&b, " %13s", c)
		}
		fmt.Fprintf(&b, " %13s\n", slowest.Round(time.Millisecond))
	}
	return b.String()
}
