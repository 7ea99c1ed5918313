package logmux

import (
	"io"
	"os"
	"testing"
	"time"
)

// A console that nobody reads holds a stream for ever; it must not hold the launcher.
func TestDrainLeavesAStuckConsoleBehind(t *testing.T) {
	console, w := io.Pipe()
	defer console.Close() // ends the stuck write
	r, worker, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	var m Mux
	m.Add(r, Stream{To: NewSink(w, nil)})
	if _, err := worker.WriteString("a line that nobody reads\n"); err != nil {
		t.Fatal(err)
	}
	worker.Close()
	ended := make(chan int)
	go func() { ended <- m.Drain(10 * time.Millisecond) }()
	select {
	case cut := <-ended:
		if cut != 1 {
			t.Errorf("%d streams cut off, want 1", cut)
		}
	case <-time.After(time.Minute):
		t.Fatal("Drain waits for the console")
	}
}
