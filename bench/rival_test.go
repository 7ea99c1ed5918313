package bench

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"lenslaunch/internal/proc"
)

// rival is a launcher beside ours: how it is told to start n copies of a program.
type rival struct {
	name string
	argv func(n int) []string
	code int // what it ends with when a rank ends with 3
}

// rivals are lenslaunch and torchrun. torchrun is that of the Python in LENSLAUNCH_TEST_PYTHON,
// which has torch: `make bench-torchrun` sets it.
func rivals(b *testing.B) (ours, theirs rival) {
	b.Helper()
	python := os.Getenv("LENSLAUNCH_TEST_PYTHON")
	if python == "" {
		b.Skip("LENSLAUNCH_TEST_PYTHON names no Python with torch: make bench-torchrun makes one")
	}
	launcher := build(b, "lenslaunch/cmd/lenslaunch")
	return rival{"lenslaunch", func(n int) []string { return []string{launcher, "--nproc", strconv.Itoa(n), "--"} }, 3},
		rival{"torchrun", func(n int) []string {
			return []string{python, "-m", "torch.distributed.run", "--standalone", "--no-python", "--nproc-per-node", strconv.Itoa(n)}
		}, 1}
}

// BenchmarkRival is what README's comparison quotes. x-torchrun is the median of
// torchrun's time or memory by ours, pair by pair.
func BenchmarkRival(b *testing.B) {
	ours, theirs := rivals(b)
	b.Run("launch=8", func(b *testing.B) {
		paired(b, "s", func(r rival) float64 { return once(b, append(r.argv(8), "/bin/true")...).Seconds() }, ours, theirs)
	})
	b.Run("one-of-8-fails", func(b *testing.B) {
		paired(b, "s", func(r rival) float64 { return fail(b, 8, r.code, r.argv(8)...).back.Seconds() }, ours, theirs)
	})
	b.Run("memory-of-8-idle", func(b *testing.B) {
		paired(b, "MiB", func(r rival) float64 { return resident(b, r) }, ours, theirs)
	})
	b.Run("killed", func(b *testing.B) {
		for b.Loop() {
			for _, r := range []rival{ours, theirs} {
				b.ReportMetric(float64(survivors(b, r)), r.name+"-survivors-of-12")
			}
		}
	})
}

func paired(b *testing.B, unit string, measure func(rival) float64, ours, theirs rival) {
	b.Helper()
	var ratio, own, other []float64
	for b.Loop() {
		us, them := measure(ours), measure(theirs)
		ratio, own, other = append(ratio, them/us), append(own, us), append(other, them)
	}
	b.ReportMetric(median(ratio), "x-torchrun")
	b.ReportMetric(median(own), ours.name+"-"+unit)
	b.ReportMetric(median(other), theirs.name+"-"+unit)
	b.ReportMetric(float64(len(ratio)), "pairs")
}

// resident is the proportional set size of a launcher and of its helpers, all that is
// not a rank, while 8 ranks sleep.
func resident(b *testing.B, r rival) float64 {
	b.Helper()
	l := begin(b, r, 8, `echo $$ >&3; exec sleep 600`)
	defer l.end(b)
	ranks := map[int]bool{}
	for range 8 {
		ranks[l.pid(b)] = true
	}
	total := 0.0
	for _, pid := range append(below(b, l.cmd.Process.Pid), l.cmd.Process.Pid) {
		if !ranks[pid] {
			total += field(b, fmt.Sprintf("/proc/%d/smaps_rollup", pid), "Pss") / 1024
		}
	}
	return total
}

// afterKill is how long what a killed launcher started has to end.
const afterKill = 2 * time.Second

// survivors kills the launcher of 4 ranks that have a child and a daemon each, and
// counts what lives on.
func survivors(b *testing.B, r rival) (alive int) {
	b.Helper()
	l := begin(b, r, 4, `sleep 600 & echo $! >&3; setsid sleep 601 & echo $! >&3; echo $$ >&3; wait`)
	defer l.end(b)
	var started []*proc.Handle
	for range 12 {
		st, err := proc.ReadStat(l.pid(b))
		if err != nil {
			b.Fatal(err)
		}
		h, err := proc.Hold(st.ID)
		if err != nil {
			b.Fatal(err)
		}
		defer h.Close()
		started = append(started, h)
	}
	if err := l.cmd.Process.Kill(); err != nil {
		b.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), afterKill)
	defer cancel()
	for _, h := range started {
		if h.Wait(ctx) != nil {
			alive++
			_ = h.Signal(syscall.SIGKILL)
		}
	}
	return alive
}

// launched is a launcher whose ranks hold a pipe, on which they tell pids.
type launched struct {
	cmd    *exec.Cmd
	living *os.File
	lines  *bufio.Reader
}

func begin(b *testing.B, r rival, n int, script string) *launched {
	b.Helper()
	alive := filepath.Join(b.TempDir(), "alive")
	if err := syscall.Mkfifo(alive, 0o600); err != nil {
		b.Fatal(err)
	}
	// torchrun changes "$$" in arguments, so the script is a file.
	program := filepath.Join(filepath.Dir(alive), "rank.sh")
	if err := os.WriteFile(program, []byte(`exec 3>"$ALIVE"; `+script+"\n"), 0o600); err != nil {
		b.Fatal(err)
	}
	argv := append(r.argv(n), "/bin/sh", program)
	l := &launched{cmd: exec.Command(argv[0], argv[1:]...)}
	l.cmd.Env = append(os.Environ(), "ALIVE="+alive)
	if err := l.cmd.Start(); err != nil {
		b.Fatal(err)
	}
	l.living = open(b, alive, os.O_RDONLY)
	l.lines = bufio.NewReader(l.living)
	return l
}

func (l *launched) pid(b *testing.B) int {
	b.Helper()
	text, err := l.lines.ReadString('\n')
	if err != nil {
		b.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(text))
	if err != nil {
		b.Fatal(err)
	}
	return pid
}

// end stops the launcher and waits for it; what it ends with is no news.
func (l *launched) end(b *testing.B) {
	b.Helper()
	_ = l.cmd.Process.Signal(syscall.SIGTERM)
	_ = l.cmd.Wait()
	l.living.Close()
}

// below lists the descendants of a process.
func below(b *testing.B, pid int) (pids []int) {
	b.Helper()
	for _, child := range children(b, pid) {
		pids = append(append(pids, child), below(b, child)...)
	}
	return pids
}
