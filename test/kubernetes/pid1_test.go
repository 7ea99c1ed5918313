package kubernetes

import (
	"bufio"
	"context"
	"debug/elf"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	batch "k8s.io/api/batch/v1"
)

// container runs the launcher as process 1 of a pid namespace, in the environment of the
// one-node Job's container, whose emptyDir is dir.
type container struct {
	cmd    *exec.Cmd
	stdout *bufio.Reader
	stderr *strings.Builder
}

func runContainer(t *testing.T, dir, flags, script string) *container {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("needs root: a pid namespace with a /proc of its own, as a container has")
	}
	job := read(t, "job.yaml")[0].(*batch.Job)
	m := meta{"train-one-x7k2p", nil, map[string]string{
		"batch.kubernetes.io/job-name": "train-one", "batch.kubernetes.io/controller-uid": "7c1d",
	}}
	args := append([]string{"--pid", "--fork", "--mount-proc", "--kill-child", launcher}, strings.Fields(flags)...)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, "unshare", append(args, "--nproc", "1", "--", "sh", "-c", script)...)
	cmd.Env = append(environment(t, job.Spec.Template.Spec.Containers[0], m), "TMPDIR="+dir)
	c := &container{cmd: cmd, stderr: &strings.Builder{}}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	c.stdout, cmd.Stderr = bufio.NewReader(out), c.stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }) // and with it the namespace
	return c
}

// line waits for a line of the ranks.
func (c *container) line(t *testing.T) string {
	t.Helper()
	text, err := c.stdout.ReadString('\n')
	if err != nil {
		t.Fatalf("no line: %v\n%s", err, c.stderr)
	}
	return strings.TrimSpace(text)
}

// signal sends one to the launcher, as the kubelet does.
func (c *container) signal(t *testing.T, sig syscall.Signal) {
	t.Helper()
	text, err := os.ReadFile("/proc/" + strconv.Itoa(c.cmd.Process.Pid) + "/task/" + strconv.Itoa(c.cmd.Process.Pid) + "/children")
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		t.Fatalf("children of unshare: %q", text)
	}
	if err := syscall.Kill(pid, sig); err != nil {
		t.Fatal(err)
	}
}

func (c *container) code(t *testing.T) int {
	t.Helper()
	rest, err := io.ReadAll(c.stdout)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.cmd.Wait(); err != nil && c.cmd.ProcessState == nil {
		t.Fatal(err)
	}
	code := c.cmd.ProcessState.ExitCode()
	t.Logf("exit code %d; %s%s", code, rest, c.stderr)
	return code
}

// One SIGTERM to process 1: the ranks save, and the code is 143.
func TestProcessOneIsStopped(t *testing.T) {
	c := runContainer(t, t.TempDir(), "", `trap 'echo saved; exit 0' TERM; echo "rank below $PPID"; while :; do sleep 1; done`)
	if got := c.line(t); got != "rank below 1" {
		t.Errorf("%q", got)
	}
	c.signal(t, syscall.SIGTERM)
	if got := c.line(t); got != "saved" {
		t.Errorf("%q", got)
	}
	if code := c.code(t); code != 143 {
		t.Errorf("exit code %d", code)
	}
}

// Process 1 has handlers: signals that it would otherwise not even see are passed on, to
// ranks that it knows to run; a script is faster than that, so it waits a little.
func TestProcessOneForwards(t *testing.T) {
	c := runContainer(t, t.TempDir(), "", `trap 'echo usr1; exit 0' USR1; sleep 0.5; echo ready; while :; do sleep 1; done`)
	c.line(t)
	c.signal(t, syscall.SIGUSR1)
	if got := c.line(t); got != "usr1" {
		t.Errorf("%q", got)
	}
	if code := c.code(t); code != 0 {
		t.Errorf("exit code %d", code)
	}
}

// Orphans become process 1's children, and leave no zombie.
func TestProcessOneReapsOrphans(t *testing.T) {
	c := runContainer(t, t.TempDir(), "", `
for i in 1 2 3; do sh -c 'sleep 0.1 & exit 0'; done
sleep 1
zombies=$(cat /proc/[0-9]*/stat 2>/dev/null | sed 's/.*) //' | grep -c '^Z 1 ')
echo "$zombies zombies"`)
	if got := c.line(t); got != "0 zombies" {
		t.Errorf("%q", got)
	}
	if code := c.code(t); code != 0 {
		t.Errorf("exit code %d", code)
	}
}

// A container that is started again in place goes on with the count on its emptyDir.
func TestContainerIsRestartedInPlace(t *testing.T) {
	dir := t.TempDir()
	flags := "--log-dir " + filepath.Join(dir, "run")
	uuids := map[string]bool{}
	for attempt := range 3 {
		c := runContainer(t, dir, flags, `echo "$LENSLAUNCH_ATTEMPT $OTEL_RESOURCE_ATTRIBUTES"; exit 3`)
		number, carrier, _ := strings.Cut(c.line(t), " ")
		if number != strconv.Itoa(attempt) {
			t.Errorf("attempt %s, want %d", number, attempt)
		}
		uuids[attribute(shown{Env: map[string]string{"OTEL_RESOURCE_ATTRIBUTES": carrier}}, "nv.dl.run.uuid")] = true
		if code := c.code(t); code != 3 {
			t.Errorf("exit code %d", code)
		}
	}
	if len(uuids) != 3 {
		t.Errorf("three attempts have the UUIDs %v", uuids)
	}
}

// The image is scratch: the binary needs no loader and no library.
func TestBinaryIsStatic(t *testing.T) {
	file, err := elf.Open(launcher)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for _, p := range file.Progs {
		if p.Type == elf.PT_INTERP {
			t.Error("the binary needs a loader")
		}
	}
	if libraries, err := file.ImportedLibraries(); err != nil || len(libraries) > 0 {
		t.Errorf("%v: %q", err, libraries)
	}
}
