package harness

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// binaryVariable names the launcher to test. Main sets it to the one it built;
// set from outside, it makes the tests run against an installed launcher.
const binaryVariable = "TEST_LENSLAUNCH"

// Main builds the launcher, runs the tests and returns their exit code; it is
// what a TestMain is for.
func Main(m *testing.M) int {
	HeedHangUp()
	if os.Getenv(binaryVariable) != "" {
		return m.Run()
	}
	dir, err := os.MkdirTemp("", "lenslaunch-test-")
	if err != nil {
		fmt.Fprintln(os.Stderr, "cannot make a directory for the launcher:", err)
		return 1
	}
	defer os.RemoveAll(dir)
	binary, err := build(dir)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	if err := os.Setenv(binaryVariable, binary); err != nil {
		fmt.Fprintln(os.Stderr, "cannot name the launcher:", err)
		return 1
	}
	return m.Run()
}

// build compiles the launcher the way that it is released: static, without cgo.
func build(dir string) (string, error) {
	binary := filepath.Join(dir, "lenslaunch")
	cmd := exec.Command("go", "build", "-trimpath", "-o", binary, "lenslaunch/cmd/lenslaunch")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("cannot build the launcher: %w\n%s", err, out)
	}
	return binary, nil
}
