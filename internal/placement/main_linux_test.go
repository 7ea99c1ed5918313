package placement

import (
	"fmt"
	"os"
	"testing"
)

// TestMain makes the test binary its own helper: with PLACEMENT_TEST_MODE it is a
// launcher that was started with some affinity mask and prints its plan for one rank.
func TestMain(m *testing.M) {
	if mode := os.Getenv("PLACEMENT_TEST_MODE"); mode != "" {
		topo, err := Read(os.DirFS("/"))
		if err == nil {
			var plan []Binding
			if plan, err = Plan(topo, Mode(mode), 1, nil); err == nil {
				fmt.Println(plan[0].CPUs)
				os.Exit(0)
			}
		}
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}
