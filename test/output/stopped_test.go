//go:build output

package output

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"lenslaunch/test/harness"
)

// Ctrl-S for 20 s: training goes on after 5, and the lines that are left out on the
// terminal are counted.
func TestStoppedTerminal(t *testing.T) {
	const stopped, holds = 20 * time.Second, 5 * time.Second
	t.Parallel()
	p := harness.OpenPTY(t)
	training := newTraining(t)
	j := job{work: work{Beat: training.dir}, dir: t.TempDir(), few: 1}
	running := j.start(t, p.Slave)
	screen := collect(hangup{p.Master})

	training.run(time.Second)
	press(t, p, "\x13")
	slowest := training.run(stopped)
	t.Logf("the slowest step took %v", slowest)
	if slowest > 2*holds { // what else the machine does takes its time, too
		t.Errorf("the slowest step took %v", slowest)
	}
	press(t, p, "\x11")
	training.run(2 * time.Second)
	training.orders.Close()
	running.wait(0)

	shown, skipped := counts(t, (<-screen).text)
	if skipped == 0 || shown+skipped != training.steps {
		t.Errorf("%d lines shown, %d told of, %d written", shown, skipped, training.steps)
	}
	if file := stream(t, j.dir, 0, 0); !bytes.Equal(file, lines(0, training.steps*lineLength)) {
		t.Errorf("%d bytes in the file of %d", len(file), training.steps*lineLength)
	}
}

// training is a rank that does a step when it is told to.
type training struct {
	t            *testing.T
	dir          string
	orders, done *os.File
	steps        int
}

// FIFOs of a training, in a directory of their own.
const (
	ordersName = "orders"
	doneName   = "done"
)

func newTraining(t *testing.T) *training {
	t.Helper()
	tr := &training{t: t, dir: t.TempDir()}
	for name, file := range map[string]**os.File{ordersName: &tr.orders, doneName: &tr.done} {
		path := filepath.Join(tr.dir, name)
		err := syscall.Mkfifo(path, 0o600)
		if err == nil {
			// Both ways, so that nobody waits for the rank to open its end.
			*file, err = os.OpenFile(path, os.O_RDWR, 0)
		}
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { (*file).Close() })
	}
	return tr
}

// run does a step each 2 ms, for so long, and returns how long the slowest took.
func (tr *training) run(d time.Duration) (slowest time.Duration) {
	tr.t.Helper()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	one := []byte{1}
	for began := time.Now(); time.Since(began) < d; tr.steps++ {
		<-tick.C
		step := time.Now()
		if _, err := tr.orders.Write(one); err != nil {
			tr.t.Fatal(err)
		}
		_ = tr.done.SetReadDeadline(time.Now().Add(time.Minute)) // should the rank have failed
		if _, err := tr.done.Read(one); err != nil {
			tr.t.Fatal(err)
		}
		slowest = max(slowest, time.Since(step))
	}
	return slowest
}

// press types a key.
func press(t *testing.T, p *harness.PTY, key string) {
	t.Helper()
	if _, err := p.Master.WriteString(key); err != nil {
		t.Fatal(err)
	}
}

// left is what a console says about the lines that it has not got.
var left = regexp.MustCompile(`^\[\d\] ([\d,]+) lines? (?:are|is) in \S+/rank-\d\.out\r?$`)

// counts are the lines of all ranks on a console, each of which must be whole, and those
// that it says are left out.
func counts(t *testing.T, console []byte) (shown, skipped int) {
	t.Helper()
	for line := range strings.Lines(string(console)) {
		line = strings.TrimRight(line, "\r\n")
		if found := left.FindStringSubmatch(line); found != nil {
			n, err := strconv.Atoi(strings.ReplaceAll(found[1], ",", ""))
			if err != nil {
				t.Fatal(err)
			}
			skipped += n
			continue
		}
		var mark, rank, n int
		if _, err := fmt.Sscanf(line, "[%d] rank %d line %d ", &mark, &rank, &n); err != nil || mark != rank ||
			line+"\n" != fmt.Sprintf("[%d] %s", rank, appendLine(nil, rank, n)) {
			t.Fatalf("%q is no line", line)
		}
		shown++
	}
	return shown, skipped
}

// A reader of 1 MB a second holds ranks for as long as it may, then lines are left out
// and counted. The files have all of them.
func TestSlowReaderWithFiles(t *testing.T) {
	const each = 2_000_000
	t.Parallel()
	w, r := openSlow(t)
	j := job{work: work{Kind: blockKind, Bytes: each}, dir: t.TempDir()}
	running := j.start(t, w)
	console := <-collect(r)
	if peak := running.wait(0); peak > mostMemory {
		t.Errorf("the launcher had %d bytes, at most %d", peak, mostMemory)
	}
	shown, skipped := counts(t, console.text)
	t.Logf("%d lines shown, %d told of", shown, skipped)
	if skipped == 0 || shown+skipped != ranks*each/lineLength {
		t.Errorf("%d lines shown, %d told of, %d written", shown, skipped, ranks*each/lineLength)
	}
	checkFiles(t, j.dir, func(rank int) []byte { return lines(rank, each) })
}
