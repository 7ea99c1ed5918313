//go:build slurm && linux

package slurm

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"lenslaunch/test/harness"
)

// user is the jobs' user of up.sh.
const user = 24999

// cluster is a Slurm that runs.
type cluster struct{ dir string }

// shared is the cluster of most tests, brought up by the first that asks for it.
var shared struct {
	once sync.Once
	c    *cluster
	err  error
}

func sharedCluster(t *testing.T) *cluster {
	t.Helper()
	shared.once.Do(func() { shared.c, shared.err = bringUp(0, "NODES=3") })
	if shared.err != nil {
		t.Fatal(shared.err)
	}
	return shared.c
}

// stopShared takes it down, and fails if a process of a job was left.
func stopShared() error {
	if shared.c == nil {
		return nil
	}
	return shared.c.down()
}

// bringUp starts a cluster with these knobs of up.sh, the number of which keeps its
// ports from those of another that starts at the same time, and puts into its home what the
// jobs' user needs: the launcher, a rank, and the workers of the interop tests.
func bringUp(number int, knobs ...string) (*cluster, error) {
	dir, err := os.MkdirTemp("", "lenslaunch-slurm-")
	if err != nil {
		return nil, err
	}
	c := &cluster{dir}
	if err := os.Chmod(dir, 0o755); err != nil {
		return nil, err
	}
	readable, err := pythonHomes()
	if err != nil {
		return nil, err
	}
	port, err := freePorts(17000 + 1000*number)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "./up.sh")
	cmd.Env = append(os.Environ(), append(knobs, "LAB="+dir, fmt.Sprint("PORTS=", port), "READABLE="+readable)...)
	// What it starts holds no pipe of ours.
	if text, err := cmd.CombinedOutput(); err != nil {
		_ = c.down()
		return nil, fmt.Errorf("cannot bring Slurm up: %w\n%s", err, text)
	}
	return c, c.furnish()
}

// freePorts finds room for a cluster: it needs a port for each daemon, and what it
// gives to steps begins 100 above.
func freePorts(first int) (int, error) {
	for base := first; base < first+1000; base += 320 {
		free := true
		for p := base; p < base+20; p++ {
			l, err := net.Listen("tcp", fmt.Sprint("127.0.0.1:", p))
			if err != nil {
				free = false
				break
			}
			l.Close()
		}
		if free {
			return base, nil
		}
	}
	return 0, fmt.Errorf("no ports for a cluster from %d to %d", first, first+1000)
}

// pythonHomes lists what the interpreter needs to run under another user.
func pythonHomes() (string, error) {
	python := os.Getenv(pythonVariable)
	text, err := exec.Command(python, "-c", "import sys; print(sys.prefix, sys.base_prefix, sep='\\n')").Output()
	if err != nil {
		return "", fmt.Errorf("cannot ask %s where it lies: %w", python, err)
	}
	homes := []string{filepath.Dir(python)}
	return strings.Join(append(homes, strings.Fields(string(text))...), ":"), nil
}

func (c *cluster) home(path ...string) string {
	return filepath.Join(append([]string{c.dir, "home"}, path...)...)
}

func (c *cluster) furnish() error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	files := map[string]string{harness.Binary(): "lenslaunch", self: "rank"}
	more, err := filepath.Glob("../interop/workers/*.py")
	if err != nil {
		return err
	}
	for _, path := range append(more, "../../examples/slurm/train.sbatch", "../../examples/slurm/array.sbatch") {
		files[path] = filepath.Base(path)
	}
	for from, to := range files {
		if err := copyFile(from, c.home(to)); err != nil {
			return err
		}
	}
	return nil
}

func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY, 0o755)
	if err != nil {
		return err
	}
	if _, err := io.Copy(out, in); err != nil {
		out.Close()
		return err
	}
	return errors.Join(os.Chown(to, user, user), out.Close())
}

func (c *cluster) down() error {
	cmd := exec.Command("./down.sh")
	cmd.Env = append(os.Environ(), "LAB="+c.dir)
	if text, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("a cluster left something behind: %w\n%s", err, text)
	}
	return nil
}

// folder makes a directory for the jobs' user.
func (c *cluster) folder(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp(c.home(), "test-") //nolint:usetesting // in the home of the jobs' user, who cannot enter a test's own
	if err == nil {
		err = os.Chown(dir, user, user)
	}
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// command is a program of the jobs' user inside the cluster, in a clean environment.
func (c *cluster) command(h *hub, env []string, words ...string) *exec.Cmd {
	cmd := exec.Command(filepath.Join(c.dir, "enter"), append([]string{"-u"}, words...)...)
	cmd.Env = append([]string{
		"PATH=" + c.home() + ":/usr/sbin:/usr/bin:/sbin:/bin", "LANG=C.UTF-8", "PYTHONDONTWRITEBYTECODE=1", "TMPDIR=" + c.home(),
		harness.Marked(h.marker), hubVariable + "=" + h.name, "PYTHON=" + os.Getenv(pythonVariable),
	}, env...)
	return cmd
}

// job is a command that runs beside the test.
type job struct {
	t    *testing.T
	cmd  *exec.Cmd
	out  bytes.Buffer
	done chan struct{}
}

// start runs a command beside the test; at the latest with the test it ends.
func (c *cluster) start(h *hub, env []string, words ...string) *job {
	h.t.Helper()
	j := &job{t: h.t, cmd: c.command(h, env, words...), done: make(chan struct{})}
	j.cmd.Stdout, j.cmd.Stderr = &j.out, &j.out
	j.cmd.WaitDelay = 10 * time.Second
	if err := j.cmd.Start(); err != nil {
		h.t.Fatal(err)
	}
	go func() { _ = j.cmd.Wait(); close(j.done) }()
	h.t.Cleanup(func() {
		select {
		case <-j.done:
		case <-time.After(patience):
			_ = j.cmd.Process.Kill()
			<-j.done
			h.t.Errorf("%q did not end", words)
		}
		if h.t.Failed() {
			h.t.Logf("%q printed:\n%s", words, tail(j.out.String()))
		}
	})
	return j
}

// code waits for the end and returns its exit code.
func (j *job) code() int {
	j.t.Helper()
	select {
	case <-j.done:
	case <-time.After(patience):
		j.t.Fatalf("%q does not end:", j.cmd.Args)
	}
	if status, ok := j.cmd.ProcessState.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return 128 + int(status.Signal())
	}
	return j.cmd.ProcessState.ExitCode()
}

// must runs a command of Slurm and returns what it printed.
func (c *cluster) must(h *hub, words ...string) string {
	h.t.Helper()
	return c.mustWith(h, nil, words...)
}

// mustWith is must with variables, which a job inherits.
func (c *cluster) mustWith(h *hub, env []string, words ...string) string {
	h.t.Helper()
	text, err := c.command(h, env, words...).CombinedOutput()
	if err != nil {
		h.t.Fatalf("%q: %v\n%s", words, err, text)
	}
	return strings.TrimSpace(string(text))
}

// clean looks for leftovers when the test is over. Call it before start: cleanups run
// in reverse.
func (c *cluster) clean(h *hub) {
	h.t.Cleanup(func() { harness.RequireNothingLeft(h.t, h.marker) })
}

// batch submits a script and returns the job's number. Its output is in dir/out.
func (c *cluster) batch(h *hub, dir string, flags []string, script string, env ...string) string {
	h.t.Helper()
	file := filepath.Join(dir, "script.sh")
	if err := os.WriteFile(file, []byte("#!/bin/sh\n"+script), 0o644); err != nil {
		h.t.Fatal(err)
	}
	return c.submit(h, dir, env, append(flags, file)...)
}

// submit is sbatch. Variables come from its environment: with --export=ALL,K=V Slurm
// would also log the user in.
func (c *cluster) submit(h *hub, dir string, env []string, words ...string) string {
	h.t.Helper()
	args := append([]string{"sbatch", "--parsable", "--chdir=" + dir, "--output=" + filepath.Join(dir, "out"), "--open-mode=append"}, words...)
	id := c.mustWith(h, env, args...)
	h.t.Cleanup(func() {
		c.must(h, "sh", "-c", "scancel --quiet "+id+"; exit 0")
		c.wait(h, id)
		if h.t.Failed() {
			text, _ := os.ReadFile(filepath.Join(dir, "out"))
			h.t.Logf("job %s printed:\n%s", id, tail(string(text)))
		}
	})
	return id
}

// wait returns once a job is over: another that depends on it can then run.
func (c *cluster) wait(h *hub, id string) {
	h.t.Helper()
	c.must(h, "srun", "--quiet", "--nodes=1", "--ntasks=1", "--dependency=afterany:"+id, "true")
}

var stateWord = regexp.MustCompile(`JobState=(\S+)`)

// state is what Slurm says of a job.
func (c *cluster) state(h *hub, id string) string {
	h.t.Helper()
	m := stateWord.FindStringSubmatch(c.must(h, "scontrol", "show", "job", id))
	if m == nil {
		h.t.Fatalf("Slurm says nothing of job %s", id)
	}
	return m[1]
}

func tail(text string) string { return text[max(0, len(text)-4000):] }
