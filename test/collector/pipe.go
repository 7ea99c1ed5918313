package collector

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
)

// pipe is a named pipe that the Collector takes for a file. All that comes is kept.
type pipe struct {
	path string
	end  *os.File

	mu    sync.Mutex
	data  []byte
	more  chan struct{} // closed when there is more, then another
	ended chan struct{} // closed when the Collector has closed it
}

func newPipe(t testing.TB, dir, name string) *pipe {
	t.Helper()
	p := &pipe{path: filepath.Join(dir, name), more: make(chan struct{}), ended: make(chan struct{})}
	if err := syscall.Mkfifo(p.path, 0o600); err != nil {
		t.Fatal(err)
	}
	// Without O_NONBLOCK this would wait for the Collector, which starts later.
	end, err := os.OpenFile(p.path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		t.Fatal(err)
	}
	p.end = end
	t.Cleanup(func() { end.Close() })
	return p
}

// read reads to the end. The Collector has opened its side: before, the pipe would seem
// to have ended.
func (p *pipe) read() {
	defer close(p.ended)
	for chunk := make([]byte, 64<<10); ; {
		n, err := p.end.Read(chunk)
		p.add(chunk[:n])
		if err != nil {
			return
		}
	}
}

func (p *pipe) add(chunk []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.data = append(p.data, chunk...)
	close(p.more)
	p.more = make(chan struct{})
}

// messages are those that are there as a whole, and a channel that is closed when there
// is more.
func (p *pipe) messages() (list [][]byte, rest int, more <-chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	list, rest = split(p.data)
	return list, rest, p.more
}

// split takes the exporter's format apart: before each message its length, in four
// bytes. rest is how much there is of one that is not whole.
func split(data []byte) (list [][]byte, rest int) {
	for len(data) >= 4 {
		n := int(binary.BigEndian.Uint32(data))
		if len(data)-4 < n {
			break
		}
		list = append(list, data[4:4+n])
		data = data[4+n:]
	}
	return list, len(data)
}
