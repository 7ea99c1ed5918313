//go:build slurm && linux

package slurm

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// commands are the lines of a document's shell blocks, those that continue joined.
func commands(t *testing.T, path string) []string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	inside := false
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(line, "```"):
			inside = line == "```sh"
		case inside && line != "":
			list = append(list, line)
		}
	}
	return list
}

// onHosts are the lines that a document has people type on several hosts.
func onHosts(t *testing.T, path string) (list []string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if _, command, ok := strings.Cut(strings.TrimSpace(line), "$ "); ok && strings.HasPrefix(line, "host-") {
			list = append(list, command)
		}
	}
	return list
}

// runOnHosts runs them beside each other: here the hosts are one.
func runOnHosts(c *cluster, h *hub, dir string, lines []string) {
	h.t.Helper()
	if len(lines) != 2 {
		h.t.Fatalf("commands for %d hosts", len(lines))
	}
	var both []*job
	for _, command := range lines {
		both = append(both, c.start(h, nil, "sh", "-c", `cd "$0" && exec `+strings.ReplaceAll(command, "host-a", "127.0.0.1"), dir))
	}
	for i, j := range both {
		if code := j.code(); code != 0 {
			h.t.Errorf("%s\nexit code %d:\n%s", lines[i], code, tail(j.out.String()))
		}
	}
	if out := both[0].out.String(); !strings.Contains(out, "training on 4 ranks") {
		h.t.Errorf("the hosts did not find each other:\n%s", tail(out))
	}
}

var jobID = regexp.MustCompile(`^(Submitted batch job )?(\d+)`)

// Every command of docs/CLUSTERS.md, as it stands there, on sixteen nodes, with the
// example that trains with the standard library alone.
func TestCommandsOfTheDocs(t *testing.T) {
	t.Parallel()
	c, err := bringUp(3, "NODES=16", "CPUS=4")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.down(); err != nil {
			t.Error(err)
		}
	})
	h := newHub(t)
	c.clean(h)
	dir := c.folder(t)
	files, err := filepath.Glob("../../examples/train/*.py")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range append(files, "../../examples/slurm/train.sbatch", "../../examples/slurm/array.sbatch") {
		if err := copyFile(path, filepath.Join(dir, filepath.Base(path))); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("/usr/bin/python3", c.home("python")); err != nil {
		t.Fatal(err)
	}
	list := commands(t, "../../docs/CLUSTERS.md")
	if len(list) < 7 {
		t.Fatalf("only %d commands: %q", len(list), list)
	}
	last := ""
	for _, command := range list {
		command = strings.ReplaceAll(command, "JOBID", last)
		j := c.start(h, []string{"LENSLAUNCH_FLAGS=--nproc=1"}, "sh", "-c", `cd "$0" && exec `+command, dir)
		if code := j.code(); code != 0 {
			t.Fatalf("%s\nexit code %d:\n%s", command, code, tail(j.out.String()))
		}
		if m := jobID.FindStringSubmatch(j.out.String()); strings.HasPrefix(command, "sbatch") {
			if m == nil {
				t.Fatalf("%s\nprinted %q", command, j.out.String())
			}
			last = m[2]
			c.wait(h, last)
		}
	}
	runOnHosts(c, h, dir, onHosts(t, "../../docs/CLUSTERS.md"))
	for _, name := range []string{"checkpoints", "runs"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			t.Error(err)
		}
	}
	outs, err := filepath.Glob(filepath.Join(dir, "*.out"))
	if err != nil || len(outs) != 5 { // one of train, four of the array
		t.Fatalf("%v: %q", err, outs)
	}
	for _, out := range outs {
		if text, err := os.ReadFile(out); err != nil || !strings.Contains(string(text), "done\n") {
			t.Errorf("%s: %v\n%s", out, err, tail(string(text)))
		}
	}
}

// The container variant, whose options of srun need pyxis, against programs that write
// down how they were called.
func TestContainerExample(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, script := range map[string]string{
		"srun": "echo srun \"$@\"; exit 75", "scontrol": "echo scontrol \"$@\"", "lenslaunch": "exit 99",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	script, err := filepath.Abs("../../examples/slurm/container.sbatch")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("bash", script, "python", "train.py")
	cmd.Dir = dir // RUNS is relative: in the container it would be no place
	cmd.Env = []string{"PATH=" + dir + ":/usr/bin:/bin", "IMAGE=image", "RUNS=runs", "SLURM_JOB_NUM_NODES=2", "SLURM_JOB_ID=7", "SLURM_JOB_CPUS_PER_NODE=16,8(x2),12"}
	text, _ := cmd.CombinedOutput()
	want := "srun --ntasks=2 --ntasks-per-node=1 --cpus-per-task=8 --kill-on-bad-exit=1 --container-image=image " +
		"--container-mounts=" + dir + "/lenslaunch:/usr/local/bin/lenslaunch:ro," + dir + "/runs:" + dir + "/runs " +
		"lenslaunch --save-signal USR1 --log-dir " + dir + "/runs/%i -- python train.py\nscontrol requeue 7\n"
	if code := cmd.ProcessState.ExitCode(); code != 75 || string(text) != want {
		t.Errorf("exit code %d:\n%s\nwant\n%s", code, text, want)
	}
}
