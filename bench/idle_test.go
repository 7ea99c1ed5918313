package bench

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// idle starts a launcher of 8 sleeping ranks and returns the pids of the launcher and
// its guard.
func idle(b *testing.B) []int {
	b.Helper()
	return eightRanks(b, "--nproc", "8", "--", "/bin/sh", "-c", "echo ready; exec sleep 600")
}

// eightRanks starts a launcher whose 8 ranks say when they are ready.
func eightRanks(b *testing.B, args ...string) []int {
	b.Helper()
	cmd := exec.Command(build(b, "lenslaunch/cmd/lenslaunch"), args...)
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		_, _ = io.Copy(io.Discard, stdout)
		_ = cmd.Wait() // told to end: its exit code is no news
	})
	ranks := bufio.NewReader(stdout)
	for ready := range 8 {
		if _, err := ranks.ReadString('\n'); err != nil {
			b.Fatalf("%d of 8 ranks are ready: %v", ready, err)
		}
	}
	return append(guards(b, cmd.Process.Pid), cmd.Process.Pid)
}

// guards are children of the launcher that run the launcher's own program.
func guards(b *testing.B, launcher int) (pids []int) {
	b.Helper()
	program, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", launcher))
	if err != nil {
		b.Fatal(err)
	}
	for _, pid := range children(b, launcher) {
		if exe, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid)); err == nil && exe == program {
			pids = append(pids, pid)
		}
	}
	if len(pids) != 1 {
		b.Fatalf("the launcher has %d guards", len(pids))
	}
	return pids
}

// children lists the children of a process.
func children(b *testing.B, parent int) (pids []int) {
	b.Helper()
	lists, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", parent))
	if err != nil {
		b.Fatal(err)
	}
	for _, list := range lists {
		text, err := os.ReadFile(list)
		if err != nil {
			continue // a thread that has ended
		}
		for _, child := range strings.Fields(string(text)) {
			pid, err := strconv.Atoi(child)
			if err != nil {
				b.Fatal(err)
			}
			pids = append(pids, pid)
		}
	}
	return pids
}

// field adds up a number of a file of /proc, "name: number" by line.
func field(b *testing.B, path, name string) float64 {
	b.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		return 0 // a thread that has ended
	}
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, name+":"); ok {
			n, err := strconv.ParseFloat(strings.Fields(rest)[0], 64)
			if err != nil {
				b.Fatal(err)
			}
			return n
		}
	}
	return 0
}

// BenchmarkMemory is the proportional set size of launcher and guard with 8 sleeping
// ranks: at most 20 MiB are promised.
func BenchmarkMemory(b *testing.B) {
	pids := idle(b)
	for b.Loop() {
		total := 0.0
		for i, name := range []string{"guard-MiB", "launcher-MiB"} {
			size := field(b, fmt.Sprintf("/proc/%d/smaps_rollup", pids[i]), "Pss") / 1024
			b.ReportMetric(size, name)
			total += size
		}
		b.ReportMetric(total, "MiB")
		if total > 20 {
			b.Errorf("%.1f MiB, want at most 20", total)
		}
	}
}

// wakeups is how often the threads of processes were put on a processor.
func wakeups(b *testing.B, pids []int) (n float64) {
	b.Helper()
	for _, pid := range pids {
		tasks, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/status", pid))
		if err != nil {
			b.Fatal(err)
		}
		for _, task := range tasks {
			n += field(b, task, "voluntary_ctxt_switches") + field(b, task, "nonvoluntary_ctxt_switches")
		}
	}
	return n
}

// BenchmarkIdle counts context switches of launcher and guard while 8 ranks sleep:
// nothing in them may wake up from time to time. (The runtime's own monitor goes to
// sleep some time after the last work.)
func BenchmarkIdle(b *testing.B) {
	pids := idle(b)
	const watched = 5 * time.Second
	<-time.After(watched) // the garbage of the start is collected
	for b.Loop() {
		before := wakeups(b, pids)
		<-time.After(watched)
		b.ReportMetric((wakeups(b, pids)-before)/watched.Seconds(), "wakeups/s")
	}
}
