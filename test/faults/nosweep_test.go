//go:build faults && linux

package faults

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// TestSweepDisabled runs a column of the matrix with a launcher whose sweep does
// nothing. The suite must see what that one leaves, in every row that its guard does
// not mend: else the zeros of the matrix would prove nothing.
func TestSweepDisabled(t *testing.T) {
	binary := filepath.Join(t.TempDir(), "lenslaunch")
	build := exec.Command("go", "build", "-tags", "nosweep", "-o", binary, "lenslaunch/cmd/lenslaunch")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("cannot build a launcher without a sweep: %v\n%s", err, out)
	}
	use := newTools(t, binary)
	k, err := kindNamed("own session")
	if err != nil {
		t.Fatal(err)
	}
	set := setting{name: "no sweep", flags: []string{"--cgroup", "off"}, settle: time.Second}
	for _, e := range ends() {
		if e.swept {
			continue
		}
		t.Run(e.name, func(t *testing.T) {
			c := &cell{}
			measure(t, use, set, e, k, c)
			if c.untried != "" {
				t.Skip(c.untried)
			}
			if !c.reachable || c.before == 0 || len(c.left) == 0 {
				t.Errorf("%v: nothing is left, so the suite could not see what a sweep does", c)
			}
		})
	}
}
