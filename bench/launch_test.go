// Package bench measures lenslaunch against a limit or a peer, paired in one run: it
// reports ratios, because times on a shared machine say little.
//
//	make bench
package bench

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"
)

// build compiles a command of this module and returns its path.
func build(b *testing.B, pkg string) string {
	b.Helper()
	out := filepath.Join(b.TempDir(), filepath.Base(pkg))
	cmd := exec.Command("go", "build", "-o", out, pkg)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if text, err := cmd.CombinedOutput(); err != nil {
		b.Fatalf("cannot build %s: %v\n%s", pkg, err, text)
	}
	return out
}

// once is the wall time of a command that must succeed.
func once(b *testing.B, argv ...string) time.Duration {
	b.Helper()
	cmd := exec.Command(argv[0], argv[1:]...)
	begin := time.Now()
	if err := cmd.Run(); err != nil {
		b.Fatalf("%v: %v", argv, err)
	}
	return time.Since(begin)
}

// BenchmarkLaunch starts and reaps N x /bin/true with lenslaunch and with the minimal
// program in turn. x-minimal is the median of the ratios pair by pair: at most 3 is
// promised for 8 ranks.
func BenchmarkLaunch(b *testing.B) {
	launcher, minimal := build(b, "lenslaunch/cmd/lenslaunch"), build(b, "lenslaunch/bench/minimal")
	for _, n := range []int{1, 8, 64} {
		b.Run("ranks="+strconv.Itoa(n), func(b *testing.B) {
			ranks := strconv.Itoa(n)
			var ratios []float64
			for b.Loop() {
				ours := once(b, launcher, "--nproc", ranks, "--", "/bin/true")
				limit := once(b, minimal, ranks, "/bin/true")
				ratios = append(ratios, float64(ours)/float64(limit))
			}
			slices.Sort(ratios)
			b.ReportMetric(ratios[len(ratios)/2], "x-minimal")
			b.ReportMetric(float64(len(ratios)), "pairs")
		})
	}
}
