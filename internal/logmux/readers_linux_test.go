package logmux

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// newPipe makes a pipe whose writing end is closed with the test.
func newPipe(t testing.TB) (r, w *os.File) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close() })
	return r, w
}

func write(t testing.TB, w io.Writer, text string) {
	t.Helper()
	if _, err := io.WriteString(w, text); err != nil {
		t.Fatal(err)
	}
}

// told is a console that says when it has been written to.
type told struct {
	writes
	came chan string
}

func newTold() *told { return &told{came: make(chan string, 1000)} }

func (c *told) Write(p []byte) (int, error) {
	n, err := c.writes.Write(p)
	c.came <- string(p)
	return n, err
}

// What is in a pipe when the time is over is still read: the last words of a rank that
// was killed while somebody else holds its pipe.
func TestDrainReadsWhatIsThere(t *testing.T) {
	for _, most := range []time.Duration{0, 10 * time.Millisecond, -time.Second} {
		r, w := newPipe(t)
		var out writes
		var m Mux
		text := strings.Repeat("0123456789\n", 5000)
		write(t, w, text)
		m.Add(r, Stream{To: NewSink(&out, nil)})
		if cut := m.Drain(most); cut != 1 {
			t.Errorf("%v: %d streams were cut off, want 1", most, cut)
		}
		if out.String() != text {
			t.Errorf("%v: %d bytes of %d", most, len(out.String()), len(text))
		}
	}
}

// A process that goes on writing does not keep the drain.
func TestDrainOfAWriterThatGoesOn(t *testing.T) {
	r, w := newPipe(t)
	var all sync.WaitGroup
	all.Go(func() {
		line := bytes.Repeat([]byte("x"), 4096)
		for {
			if _, err := w.Write(line); err != nil {
				return // the pipe is closed
			}
		}
	})
	var m Mux
	m.Add(r, Stream{})
	if cut := m.Drain(20 * time.Millisecond); cut != 1 {
		t.Errorf("%d streams were cut off", cut)
	}
	all.Wait()
}

// What no console will show is counted.
func TestUnread(t *testing.T) {
	r, w := newPipe(t)
	g := newGate()
	g.stop()
	pulse := new(Pulse)
	var m Mux
	console := newTold()
	m.Add(r, Stream{To: NewSink(io.MultiWriter(console, g), nil), Pulse: pulse})
	write(t, w, "shown\n")
	<-console.came
	write(t, w, "not shown\n")
	if !pulse.Held() {
		t.Error("the process is not held")
	}
	if cut := m.Drain(0); cut != 1 || m.Unread() != len("not shown\n") {
		t.Errorf("%d streams were cut off, %d bytes unread", cut, m.Unread())
	}
	w.Close()
	g.goOn()
	if cut := m.Drain(time.Minute); cut != 0 || m.Unread() != 0 || pulse.Held() {
		t.Errorf("after that %d streams, %d bytes, held %v", cut, m.Unread(), pulse.Held())
	}
}

// A pipe that fills up is made larger; a few are.
func TestBusyPipesGrow(t *testing.T) {
	var m Mux
	console := newTold()
	sink := NewSink(console, nil)
	text := strings.Repeat("x", 60_000) + "\n"
	var ends []*os.File
	for i := range grownPipes + 1 {
		r, w := newPipe(t)
		if i == 0 {
			write(t, w, "small\n")
		}
		m.Add(r, Stream{To: sink})
		if i == 0 {
			<-console.came
			if n := pipeSize(t, w); n != 64<<10 {
				t.Errorf("a pipe of %d bytes after a small write", n)
			}
		}
		write(t, w, text)
		<-console.came
		ends = append(ends, w)
	}
	for i, w := range ends {
		n, want := pipeSize(t, w), largePipe
		if i == grownPipes {
			want = 64 << 10
		}
		if n != want {
			t.Errorf("pipe %d holds %d bytes, want %d", i, n, want)
		}
		w.Close()
	}
	if cut := m.Drain(time.Minute); cut != 0 {
		t.Errorf("%d streams were cut off", cut)
	}
	if n := m.room.used.Load(); n != 0 {
		t.Errorf("%d large pipes are still counted", n)
	}
}

func pipeSize(t *testing.T, w *os.File) int {
	t.Helper()
	n := 0
	control(w, func(fd int) { n, _ = unix.FcntlInt(uintptr(fd), unix.F_GETPIPE_SZ, 0) })
	return n
}

// Streams that come later are read as well, also after all others have ended.
func TestStreamsComeAndGo(t *testing.T) {
	var m Mux
	console := newTold()
	sink := NewSink(console, nil)
	for i := range 20 {
		r, w := newPipe(t)
		m.Add(r, Stream{To: sink})
		text := fmt.Sprintf("line %d\n", i)
		write(t, w, text)
		w.Close()
		if got := <-console.came; got != text {
			t.Errorf("%q, want %q", got, text)
		}
		if i%5 == 4 {
			if cut := m.Drain(time.Minute); cut != 0 {
				t.Errorf("%d streams were cut off", cut)
			}
		}
	}
}

// A file that is no pipe is read as well.
func TestOtherFiles(t *testing.T) {
	path := t.TempDir() + "/file"
	if err := os.WriteFile(path, []byte("a\nb"), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	var out writes
	var m Mux
	m.Add(f, Stream{To: NewSink(&out, nil), Prefix: "[0] "})
	if cut := m.Drain(time.Minute); cut != 0 || out.String() != "[0] a\n[0] b\n" {
		t.Errorf("%d streams were cut off, output %q", cut, out.String())
	}
	if _, err := f.Stat(); err == nil {
		t.Error("the file is open")
	}
}

// A process that writes a line at a time does not wake a reader with each of them.
func TestManySmallWrites(t *testing.T) {
	r, w := newPipe(t)
	var out writes
	var m Mux
	const lines = 20_000
	m.Add(r, Stream{To: NewSink(&out, nil)})
	for range lines {
		write(t, w, "0123456789\n")
	}
	w.Close()
	if cut := m.Drain(time.Minute); cut != 0 {
		t.Errorf("%d streams were cut off", cut)
	}
	if n := len(out.String()); n != 11*lines {
		t.Errorf("%d bytes of %d", n, 11*lines)
	}
	if n := len(out.all); n > lines/10 {
		t.Errorf("%d writes for %d lines", n, lines)
	}
}

// perStream is what a stream costs while it is quiet, in bytes. It is told in the
// package comment.
const perStream = 3 << 10

// 512 ranks have 1,024 streams. After heavy traffic on each they cost little, because
// buffers belong to those who read and not to streams.
func TestMemoryOfManyStreams(t *testing.T) {
	const streams = 1024
	if limit := fileLimit(t); limit < 2*streams+100 {
		t.Skipf("only %d descriptors", limit)
	}
	before := memory()
	var m Mux
	console := &counter{reached: make(chan struct{}), want: streams * (100_000 + 1000*len("[0] "))}
	sink := NewSink(console, nil)
	text := strings.Repeat(strings.Repeat("x", 99)+"\n", 1000)
	var ends []*os.File
	for range streams {
		r, w := newPipe(t)
		m.Add(r, Stream{To: sink, Prefix: "[0] ", Continuation: "[0]+ ", Pulse: new(Pulse)})
		ends = append(ends, w)
		write(t, w, text)
	}
	<-console.reached
	after := memory()
	each := (int64(after) - int64(before)) / streams
	t.Logf("%d bytes for each of %d quiet streams", each, streams)
	if each > perStream {
		t.Errorf("a quiet stream costs %d bytes, at most %d", each, perStream)
	}
	for _, w := range ends {
		w.Close()
	}
	if cut := m.Drain(time.Minute); cut != 0 {
		t.Errorf("%d streams were cut off", cut)
	}
}

// memory is what the heap and the stacks take when what nobody uses is given back.
func memory() uint64 {
	// Twice: a pool keeps things over one collection.
	runtime.GC()
	debug.FreeOSMemory()
	var s runtime.MemStats
	runtime.ReadMemStats(&s)
	return s.HeapAlloc + s.StackInuse
}

// fileLimit is how many descriptors the test may have, raised as far as it goes.
func fileLimit(t *testing.T) int {
	t.Helper()
	var l unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &l); err != nil {
		t.Fatal(err)
	}
	return int(min(l.Cur, 1<<20)) // the runtime has raised it
}

// counter closes reached when it has so many bytes.
type counter struct {
	mu      sync.Mutex
	n, want int
	reached chan struct{}
}

func (c *counter) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	before := c.n
	c.n += len(p)
	if before < c.want && c.n >= c.want {
		close(c.reached)
	}
	return len(p), nil
}
