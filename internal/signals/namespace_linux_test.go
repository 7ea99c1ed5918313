//go:build amd64 || arm64

package signals

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

const insideVariable = "SIGNALS_TEST_INSIDE"

// A scheduler's or container runtime's process has no number in the container: that one
// is not named.
func TestSenderOutsideOfThePidNamespace(t *testing.T) {
	if os.Getenv(insideVariable) != "" {
		inside(t)
		return
	}
	cmd := exec.Command("/proc/self/exe", "-test.run=^"+t.Name()+"$", "-test.timeout=1m")
	cmd.Env = append(os.Environ(), insideVariable+"=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWPID}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Skipf("no pid namespace for a test: %v", err) // only root may make one
	}
	lines := bufio.NewScanner(stdout)
	if !lines.Scan() || lines.Text() != "ready" {
		t.Errorf("it says %q", lines.Text())
	}
	if err := cmd.Process.Signal(syscall.SIGUSR1); err != nil {
		t.Error(err)
	}
	if want := fmt.Sprintf("a process outside of this container (uid %d)", os.Getuid()); !lines.Scan() || lines.Text() != want {
		t.Errorf("it says %q, want %q", lines.Text(), want)
	}
	for lines.Scan() {
		if strings.HasPrefix(lines.Text(), "---") {
			t.Error(lines.Text())
		}
	}
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
}

// inside is process 1 of the namespace: it says who has sent a signal.
func inside(t *testing.T) {
	s, _ := take(t, syscall.SIGUSR1)
	fmt.Println("ready")
	fmt.Println(next(t, s).Sender)
}
