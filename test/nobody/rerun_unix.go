//go:build unix

// Package nobody runs tests of what a user without privileges may not do, where the
// tests themselves are root's. It imports nothing of the program, so that every package
// can use it.
package nobody

import (
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

// ID is a user and a group that own nothing.
const ID = 65534

// Rerun runs the test that calls it once more as nobody if it is root's, and reports
// whether it did: then there is nothing left to do. The other process is this test
// binary, started by way of /proc because its directory may be private.
func Rerun(t *testing.T) bool {
	t.Helper()
	if os.Geteuid() != 0 {
		return false
	}
	temp, err := os.MkdirTemp("/tmp", "lenslaunch-test-") //nolint:usetesting // t.TempDir is in a directory that nobody else can enter
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(temp) })
	if err := os.Chown(temp, ID, ID); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("/proc/self/exe", "-test.run", "^"+t.Name()+"$", "-test.v")
	cmd.Dir = "/"
	cmd.Env = append(os.Environ(), "TMPDIR="+temp, "HOME="+temp, "GORACE=atexit_sleep_ms=0")
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: ID, Gid: ID}}
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "--- PASS: "+t.Name()) {
		t.Errorf("as nobody: %v\n%s", err, out)
	}
	return true
}
