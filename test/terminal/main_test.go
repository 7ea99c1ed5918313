//go:build terminal && linux

package terminal

import (
	"flag"
	"os"
	"os/exec"
	"testing"

	"lenslaunch/test/harness"
)

var update = flag.Bool("update", false, "write docs/terminal.txt")

func TestMain(m *testing.M) {
	flag.Parse()
	os.Exit(harness.Main(m))
}

// python is the interpreter itself: in its place in PATH there may be a script that
// looks for it first.
func python(t *testing.T) string {
	t.Helper()
	out, err := exec.Command("python3", "-c", "import sys; print(sys.executable, end='')").Output()
	if err != nil {
		t.Fatalf("cannot find python3: %v", err)
	}
	return string(out)
}
