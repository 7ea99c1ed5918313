package bench

import (
	"bufio"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"testing"
	"time"
)

// workerScript is a rank that holds a pipe as long as it lives, and fails when it is
// told to if it is rank 3. The others die of SIGTERM as the kernel does it.
const workerScript = `exec 3>"$ALIVE"; echo ready >&3; if [ "$RANK" = 3 ]; then read x <"$GO"; exit 3; fi; exec sleep 600`

// failure is how long it took from the failure of one rank.
type failure struct{ dead, back time.Duration }

// fail lets one of n ranks fail and measures until all ranks are dead, and until the
// program that started them has ended, with that code.
func fail(b *testing.B, n, code int, argv ...string) failure {
	b.Helper()
	dir := b.TempDir()
	alive, gate := filepath.Join(dir, "alive"), filepath.Join(dir, "go")
	if err := errors.Join(syscall.Mkfifo(alive, 0o600), syscall.Mkfifo(gate, 0o600)); err != nil {
		b.Fatal(err)
	}
	cmd := exec.Command(argv[0], append(argv[1:], "/bin/sh", "-c", workerScript)...)
	cmd.Env = append(os.Environ(), "ALIVE="+alive, "GO="+gate)
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	living := open(b, alive, os.O_RDONLY)
	defer living.Close()
	for ranks, ready := bufio.NewReader(living), 0; ready < n; ready++ {
		if _, err := ranks.ReadString('\n'); err != nil {
			b.Fatalf("%d of %d ranks are ready: %v", ready, n, err)
		}
	}
	shot := open(b, gate, os.O_WRONLY)
	began := time.Now()
	if _, err := shot.WriteString("now\n"); err != nil {
		b.Fatal(err)
	}
	if _, err := io.Copy(io.Discard, living); err != nil {
		b.Fatal(err)
	}
	f := failure{dead: time.Since(began)}
	err := cmd.Wait()
	f.back = time.Since(began)
	shot.Close()
	if cmd.ProcessState.ExitCode() != code {
		b.Fatalf("%v: %v, want exit code %d", argv, err, code)
	}
	return f
}

// open waits for the other side of a fifo.
func open(b *testing.B, path string, how int) *os.File {
	b.Helper()
	f, err := os.OpenFile(path, how, 0)
	if err != nil {
		b.Fatal(err)
	}
	return f
}

// BenchmarkFailure lets one rank fail and measures until the others are dead and until
// the launcher is back, paired with the least that a Go program can do. At most
// 2 x-dead and 20 back-ms are promised for 8 ranks.
func BenchmarkFailure(b *testing.B) {
	launcher, supervisor := build(b, "lenslaunch/cmd/lenslaunch"), build(b, "lenslaunch/bench/supervisor")
	for _, n := range []int{8, 64} {
		b.Run("ranks="+strconv.Itoa(n), func(b *testing.B) {
			ranks := strconv.Itoa(n)
			var dead, back, ms, deadMs []float64
			for b.Loop() {
				ours := fail(b, n, 3, launcher, "--nproc", ranks, "--")
				peer := fail(b, n, 3, supervisor, ranks)
				dead = append(dead, float64(ours.dead)/float64(peer.dead))
				back = append(back, float64(ours.back)/float64(peer.back))
				ms = append(ms, float64(ours.back)/float64(time.Millisecond))
				deadMs = append(deadMs, float64(ours.dead)/float64(time.Millisecond))
			}
			b.ReportMetric(median(dead), "x-dead")
			b.ReportMetric(median(back), "x-back")
			b.ReportMetric(median(deadMs), "dead-ms")
			b.ReportMetric(median(ms), "back-ms")
			b.ReportMetric(float64(len(ms)), "pairs")
		})
	}
}

func median(list []float64) float64 {
	slices.Sort(list)
	return list[len(list)/2]
}
