package cli

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// nobody is a user who owns nothing. Root may write everywhere, so tests of what may
// not be written run as this one.
const nobody = 65534

// asNobody runs lenslaunch in a process of its own, as a user without privileges.
// This test binary is lenslaunch where it has that name; by way of /proc it can be
// started even if its directory is private.
func asNobody(t *testing.T, environ []string, args ...string) result {
	t.Helper()
	cmd := exec.Command("/proc/self/exe", args...)
	cmd.Args[0] = "lenslaunch"
	cmd.Dir = "/"
	cmd.Env = append(append([]string{"PATH=/usr/bin:/bin"}, raceEnvironment()...), environ...)
	if testing.CoverMode() != "" {
		cmd.Env = append(cmd.Env, "GOCOVERDIR="+openDir(t, 0o777)) // without one it says so on stderr
	}
	if os.Geteuid() == 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	}
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return result{cmd.ProcessState.ExitCode(), out.String(), errs.String()}
}

// openDir makes a directory that everybody can reach, which t.TempDir is not, with a
// mode of its own.
func openDir(t *testing.T, mode os.FileMode) string {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "lenslaunch-test-") //nolint:usetesting // t.TempDir is in a directory that nobody else can enter
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = os.Chmod(dir, 0o700)
		_ = os.RemoveAll(dir)
	})
	if err := os.Chmod(dir, mode); err != nil {
		t.Fatal(err)
	}
	return dir
}

// A temp directory that cannot be written costs the ledger and the error files, and
// says so; it costs no job.
func TestReadOnlyTempDirectory(t *testing.T) {
	dir := openDir(t, 0o555)
	got := asNobody(t, []string{"TMPDIR=" + dir}, "--nproc", "2", "--run-id", "r", "--", "sh", "-c", `echo "up ${TORCHELASTIC_ERROR_FILE-none}"`)
	if got.code != 0 {
		t.Errorf("exit code %d", got.code)
	}
	if want := []string{"[0] up none", "[1] up none"}; strings.Join(sortedLines(got.out), "|") != strings.Join(want, "|") {
		t.Errorf("stdout %q, want %q", got.out, want)
	}
	for _, line := range sortedLines(got.err) {
		if !strings.HasPrefix(line, "lenslaunch: warning: ") {
			t.Errorf("more than a warning: %q", line)
		}
	}
	for _, want := range []string{"without a ledger of attempts", "error files"} {
		if strings.Count(got.err, want) != 1 {
			t.Errorf("stderr does not say %q once:\n%s", want, got.err)
		}
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// Restarts work there too, and the warnings do not come again with each attempt's
// ledger.
func TestReadOnlyTempDirectoryAndRestarts(t *testing.T) {
	dir := openDir(t, 0o555)
	got := asNobody(t, []string{"TMPDIR=" + dir}, "--run-id", "r", "--max-restarts", "2", "--restart-delay", "1ms", "--",
		"sh", "-c", `echo "attempt $LENSLAUNCH_ATTEMPT"; [ $LENSLAUNCH_ATTEMPT = 2 ]`)
	if got.code != 0 || got.out != "attempt 0\nattempt 1\nattempt 2\n" {
		t.Errorf("exit code %d, stdout %q, stderr:\n%s", got.code, got.out, got.err)
	}
	if n := strings.Count(got.err, "without a ledger"); n != 1 {
		t.Errorf("the missing ledger is told %d times, want once:\n%s", n, got.err)
	}
}

// A state directory that was asked for and cannot be used is an error, before
// anything starts.
func TestUnwritableStateDirectory(t *testing.T) {
	temp := openDir(t, 0o777)
	locked := openDir(t, 0o555)
	for name, dir := range map[string]string{"not ours to write": locked, "not ours to make": filepath.Join(locked, "state")} {
		t.Run(name, func(t *testing.T) {
			trace := filepath.Join(temp, "started")
			got := asNobody(t, []string{"TMPDIR=" + temp}, "--nproc", "2", "--run-id", "r", "--state-dir", dir, "--", "touch", trace)
			if got.code != 2 || got.out != "" {
				t.Errorf("exit code %d, stdout %q", got.code, got.out)
			}
			if !isOneLine(got.err) || !strings.Contains(got.err, dir) {
				t.Errorf("stderr is not one line that names %s: %q", dir, got.err)
			}
			if _, err := os.Stat(trace); err == nil {
				t.Error("a worker was started")
			}
		})
	}
}

// env only looks: what cannot be written does not matter.
func TestReadOnlyForEnv(t *testing.T) {
	dir := openDir(t, 0o555)
	got := asNobody(t, []string{"TMPDIR=" + dir}, "env", "--run-id", "r", "--state-dir", filepath.Join(dir, "state"), "--format", "shell")
	if got.code != 0 || got.err != "" || !strings.Contains(got.out, "export RANK='0'\n") {
		t.Errorf("exit code %d, stderr %q", got.code, got.err)
	}
}

// A directory that may not be entered, as the workers' own.
func TestForbiddenDirectory(t *testing.T) {
	temp, locked := openDir(t, 0o777), openDir(t, 0o000)
	got := asNobody(t, []string{"TMPDIR=" + temp}, "--nproc", "2", "--chdir", filepath.Join(locked, "x"), "--", "touch", filepath.Join(temp, "started"))
	if got.code != 2 || !isOneLine(got.err) || !strings.Contains(got.err, "--chdir") {
		t.Errorf("exit code %d, stderr %q", got.code, got.err)
	}
}
