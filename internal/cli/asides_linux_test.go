package cli

import (
	"bufio"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"lenslaunch/test/harness"
)

// All that -v says before the first rank, and what telemetry has to say, keeps nobody
// from starting the ranks and from ending when told to.
func TestFullPipeBeforeTheRun(t *testing.T) {
	cmd := exec.Command("/proc/self/exe", "-v", "--nproc", "2", "--stop-timeout", "1s", "--", "sh", "-c", "echo ready; exec sleep 600")
	cmd.Args[0] = "lenslaunch"
	cmd.Env = append(os.Environ(), "TMPDIR="+t.TempDir(), "OTEL_TRACES_EXPORTER=no-such-exporter")
	cmd.Env = append(cmd.Env, raceEnvironment()...)
	cmd.Stderr = harness.FullPipe(t)
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer time.AfterFunc(time.Minute, func() { _ = cmd.Process.Kill() }).Stop() // a test that fails ends
	lines := bufio.NewScanner(stdout)
	for range 2 {
		if !lines.Scan() {
			t.Error("the ranks have not been started")
		}
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Error(err)
	}
	for lines.Scan() { // to the end
	}
	if err := cmd.Wait(); cmd.ProcessState.ExitCode() != 143 {
		t.Errorf("it has ended with %v", err)
	}
}
