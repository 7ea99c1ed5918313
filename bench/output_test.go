package bench

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// pythonVariable names an interpreter that has torch.
const pythonVariable = "LENSLAUNCH_TEST_PYTHON"

// load is what each of 8 ranks writes: lines of 100 bytes.
type load struct {
	name         string
	bytes, block int
}

// loads are those of the issue that asks for this speed. Writes of one line each cost
// the writer more than the launcher: fewer bytes say as much.
var loads = []load{{"blocks of 8 KiB", 200_000_000, 8 << 10}, {"a write for each line", 50_000_000, lineLength}}

const (
	ranks      = "8"
	lineLength = 100
)

// destination is where a command's output goes.
type destination struct {
	name string
	open func(b *testing.B) (w *os.File, done func())
}

var destinations = []destination{{"file", toFile}, {"pipe", toPipe}}

// toFile is a new file each time, so that none pays for freeing another's pages.
func toFile(b *testing.B) (*os.File, func()) {
	b.Helper()
	f, err := os.CreateTemp(b.TempDir(), "out")
	if err != nil {
		b.Fatal(err)
	}
	return f, func() {
		f.Close()
		os.Remove(f.Name())
	}
}

// toPipe is read as fast as it goes.
func toPipe(b *testing.B) (*os.File, func()) {
	b.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		b.Fatal(err)
	}
	read := make(chan error, 1)
	go func() {
		_, err := io.CopyBuffer(struct{ io.Writer }{io.Discard}, r, make([]byte, 1<<20))
		read <- err
	}()
	return w, func() {
		w.Close()
		if err := <-read; err != nil {
			b.Fatal(err)
		}
		r.Close()
	}
}

// BenchmarkOutput is the prefixed console of 8 ranks, in turn with `cat` of the same
// bytes through 8 pipes and with the minimal Go program. x-cat and x-minimal are medians
// of their time divided by ours, launch included: 0.5 and 1 are promised. The figures
// with -cpu are the same of CPU time, which other load on the machine changes less.
func BenchmarkOutput(b *testing.B) {
	launcher, minimal, writer := build(b, "lenslaunch/cmd/lenslaunch"), build(b, "lenslaunch/bench/minimalmux"), build(b, "lenslaunch/bench/writer")
	state := b.TempDir()
	for _, l := range loads {
		for _, d := range destinations {
			b.Run(l.name+" to a "+d.name, func(b *testing.B) {
				command := []string{writer, strconv.Itoa(l.bytes), strconv.Itoa(l.block)}
				cat := fmt.Sprintf("for i in 1 2 3 4 5 6 7 8; do %s | cat & done; wait", strings.Join(command, " "))
				c := contest{bytes: 8 * l.bytes}
				c.add("", func() spent {
					return run(b, d, append([]string{launcher, "--nproc", ranks, "--state-dir", state, "--"}, command...)...)
				})
				c.add("cat", func() spent { return run(b, d, "/bin/sh", "-c", cat) })
				c.add("minimal", func() spent { return run(b, d, append([]string{minimal, ranks}, command...)...) })
				for b.Loop() {
					c.round()
				}
				c.report(b)
			})
		}
	}
}

// BenchmarkFiles is a run directory that takes the ranks' output, in turn with the
// workers alone that write to files. x-alone is promised to be at least 0.95.
func BenchmarkFiles(b *testing.B) {
	launcher, minimal, writer := build(b, "lenslaunch/cmd/lenslaunch"), build(b, "lenslaunch/bench/minimal"), build(b, "lenslaunch/bench/writer")
	flags := []string{"--nproc", ranks, "--state-dir", b.TempDir(), "--output", "none", "--log-dir"}
	if err := exec.Command(launcher, append(flags, b.TempDir(), "--dry-run", "--", "true")...).Run(); err != nil {
		b.Skip("this launcher has no run directory")
	}
	// Much, since the start of the launch is part of the time, and nothing is copied.
	const bytes = 500_000_000
	command := []string{writer, strconv.Itoa(bytes), strconv.Itoa(loads[0].block)}
	c := contest{bytes: 8 * bytes}
	c.add("", func() spent {
		dir := inMemory(b)
		defer remove(b, dir)
		return run(b, destinations[0], slices.Concat([]string{launcher}, flags, []string{dir, "--"}, command)...)
	})
	c.add("alone", func() spent {
		dir := inMemory(b)
		defer remove(b, dir)
		// In a session of its own, as a rank is: on a machine with fewer processors than
		// writers the kernel then switches between them more often, for both.
		script := fmt.Sprintf("exec setsid -w %s >%s/$$", strings.Join(command, " "), dir)
		return run(b, destinations[0], minimal, ranks, "/bin/sh", "-c", script)
	})
	for b.Loop() {
		c.round()
	}
	c.report(b)
}

// inMemory is a new directory of a file system in memory where there is one: on a disk it
// would be the disk that is measured.
func inMemory(b *testing.B) string {
	b.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "lenslaunch-bench-") //nolint:usetesting // b.TempDir may be on a disk
	if err != nil {
		return b.TempDir()
	}
	return dir
}

// remove frees the disk for who comes next.
func remove(b *testing.B, dir string) {
	b.Helper()
	if err := os.RemoveAll(dir); err != nil {
		b.Fatal(err)
	}
}

// BenchmarkTorchrun is the prefixed console of 8 ranks in turn with that of torchrun,
// start of both included. x-torchrun is promised to be at least 10.
func BenchmarkTorchrun(b *testing.B) {
	python := os.Getenv(pythonVariable)
	if python == "" {
		b.Skip("left out: " + pythonVariable + " names no Python with torch; test/interop/venv.sh makes one and prints it")
	}
	launcher, writer := build(b, "lenslaunch/cmd/lenslaunch"), build(b, "lenslaunch/bench/writer")
	command := []string{writer, strconv.Itoa(100_000_000), strconv.Itoa(8 << 10)}
	state := b.TempDir()
	for _, d := range destinations {
		b.Run("to a "+d.name, func(b *testing.B) {
			c := contest{bytes: 8 * 100_000_000}
			c.add("", func() spent {
				return run(b, d, append([]string{launcher, "--nproc", ranks, "--state-dir", state, "--"}, command...)...)
			})
			c.add("torchrun", func() spent {
				logs := filepath.Join(b.TempDir(), "logs")
				defer remove(b, logs)
				torchrun := []string{python, "-m", "torch.distributed.run", "--nproc-per-node", ranks, "--log-dir", logs, "--tee", "3", "--no-python"}
				return run(b, d, append(torchrun, command...)...)
			})
			for b.Loop() {
				c.round()
			}
			c.report(b)
		})
	}
}
