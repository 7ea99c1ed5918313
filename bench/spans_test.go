package bench

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// cpu is the time that the threads of processes have had on processors.
func cpu(b *testing.B, pids []int) (total time.Duration) {
	b.Helper()
	for _, pid := range pids {
		tasks, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", pid))
		if err != nil {
			b.Fatal(err)
		}
		for _, task := range tasks {
			text, err := os.ReadFile(task)
			if err != nil {
				continue // a thread that has ended
			}
			ns, err := strconv.ParseInt(strings.Fields(string(text))[0], 10, 64)
			if err != nil {
				b.Fatal(err)
			}
			total += time.Duration(ns)
		}
	}
	return total
}

// BenchmarkSpans is what the spans of 8 ranks, a thousand a second of each, cost the
// launcher and its guard: their time on processors, beside that of a launcher whose
// ranks sleep. Ranks record spans in memory that the launcher does not look at.
func BenchmarkSpans(b *testing.B) {
	flags := func() []string { return []string{"--nproc", "8", "--log-dir", filepath.Join(b.TempDir(), "run"), "--"} }
	busy := eightRanks(b, append(flags(), build(b, "lenslaunch/bench/spanner"))...)
	quiet := eightRanks(b, append(flags(), "/bin/sh", "-c", "echo ready; exec sleep 600")...)
	const watched = 5 * time.Second
	<-time.After(watched) // the start is over, and its garbage collected
	var with, without time.Duration
	for b.Loop() {
		w, o := cpu(b, busy), cpu(b, quiet)
		<-time.After(watched)
		with += cpu(b, busy) - w
		without += cpu(b, quiet) - o
	}
	b.ReportMetric(float64(with.Microseconds())/watched.Seconds()/float64(b.N), "us-of-CPU/s")
	b.ReportMetric(float64(without.Microseconds())/watched.Seconds()/float64(b.N), "us-asleep/s")
}
