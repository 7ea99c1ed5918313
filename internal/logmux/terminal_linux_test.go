package logmux

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// pty is a terminal; what is written to slave is seen at master.
type pty struct {
	master, slave *os.File
	mu            sync.Mutex
	got           []byte
	more          chan struct{}
	over          chan struct{}
}

// openPTY makes a terminal without echo and without changes of line ends, and reads it.
func openPTY(t *testing.T, columns uint16) *pty {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("no pseudoterminals here: %v", err)
	}
	number := 0
	control(master, func(fd int) {
		if err = unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err == nil {
			number, err = unix.IoctlGetInt(fd, unix.TIOCGPTN)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	slave, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	p := &pty{master: master, slave: slave, more: make(chan struct{}, 1), over: make(chan struct{})}
	control(slave, func(fd int) {
		var modes *unix.Termios
		if modes, err = unix.IoctlGetTermios(fd, unix.TCGETS); err == nil {
			modes.Oflag &^= unix.OPOST
			modes.Lflag &^= unix.ECHO
			err = unix.IoctlSetTermios(fd, unix.TCSETS, modes)
		}
		if err == nil {
			err = unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: columns})
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.close)
	return p
}

func (p *pty) close() {
	p.slave.Close()
	p.master.Close()
}

// watch reads the master until the terminal is closed.
func (p *pty) watch() {
	defer close(p.over)
	b := make([]byte, 4096)
	for {
		n, err := p.master.Read(b)
		p.mu.Lock()
		p.got = append(p.got, b[:n]...)
		p.mu.Unlock()
		select {
		case p.more <- struct{}{}:
		default:
		}
		if err != nil {
			return
		}
	}
}

// await waits until the terminal shows text.
func (p *pty) await(t *testing.T, text string) {
	t.Helper()
	timer := time.NewTimer(20 * time.Second)
	defer timer.Stop()
	for {
		p.mu.Lock()
		found := bytes.Contains(p.got, []byte(text))
		got := string(p.got)
		p.mu.Unlock()
		if found {
			return
		}
		select {
		case <-p.more:
		case <-timer.C:
			t.Fatalf("no %q in %q", text, got)
		}
	}
}

var xterm = map[string]string{"TERM": "xterm-256color"}

func TestTerminalIsRecognised(t *testing.T) {
	p := openPTY(t, 57)
	if !isTerminal(p.slave) || columns(p.slave) != 57 {
		t.Errorf("terminal %v, %d columns", isTerminal(p.slave), columns(p.slave))
	}
	control(p.slave, func(fd int) {
		if err := unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: 31}); err != nil {
			t.Error(err)
		}
	})
	if n := columns(p.slave); n != 31 {
		t.Errorf("%d columns after a resize", n)
	}
	file, err := os.Create(filepath.Join(t.TempDir(), "file"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if isTerminal(file) || columns(file) != 0 || isTerminal(&writes{}) || !isRegular(file) || isRegular(p.slave) || isRegular(&writes{}) {
		t.Error("a file is taken for a terminal, or a terminal for a file")
	}
}

// What a console gets depends on what it is and on the environment.
func TestOptions(t *testing.T) {
	p := openPTY(t, 80)
	for _, tt := range []struct {
		name  string
		o     Options
		want  policy
		color bool
	}{
		{"nothing is known of the environment", Options{}, policy{}, false},
		{"a terminal", Options{Env: xterm}, policy{live: true, inPlace: true}, true},
		{"no colours", Options{Env: map[string]string{"TERM": "xterm", "NO_COLOR": "1"}}, policy{live: true, inPlace: true}, false},
		{"a dumb terminal", Options{Env: map[string]string{"TERM": "dumb"}}, policy{live: true}, false},
		{"all states", Options{Env: xterm, KeepCR: true}, policy{live: true, keepCR: true}, true},
	} {
		out, errs := tt.o.Sinks(p.slave, p.slave)
		if out.c != errs.c {
			t.Errorf("%s: one terminal is two consoles", tt.name)
		}
		if out.c.policy != tt.want || out.color != tt.color {
			t.Errorf("%s: %+v, colour %v", tt.name, out.c.policy, out.color)
		}
		if pipe, _ := tt.o.Sinks(&writes{}, p.slave); pipe.c.live || pipe.color {
			t.Errorf("%s: a pipe is taken for a terminal", tt.name)
		}
	}
}

// Bars, a line of another rank and a question on a real terminal.
func TestRealTerminal(t *testing.T) {
	p := openPTY(t, 40)
	go p.watch()
	out, errs := Options{Env: xterm}.Sinks(p.slave, p.slave)
	var m Mux
	streams := make([]*os.File, 2)
	for i := range streams {
		r, w := newPipe(t)
		streams[i] = w
		m.Add(r, Stream{
			To: []*Sink{out, errs}[i], Prefix: fmt.Sprintf("[%d] ", i), Continuation: fmt.Sprintf("[%d]+ ", i), Color: i + 1,
		})
	}
	write(t, streams[1], "\r 10% of a bar that is much too long for it")
	p.await(t, "\x1b[0;38;5;130m[1]\x1b[0m  10% of a bar that is much too long\x1b[0m")
	write(t, streams[0], "a line\n")
	p.await(t, "\r\x1b[K\x1b[0;38;5;31m[0]\x1b[0m a line\n")
	write(t, streams[1], "\r100%\n")
	p.await(t, "[1]\x1b[0m 100%\n")
	write(t, streams[0], "Continue? ")
	p.await(t, "Continue? ")
	write(t, streams[1], "another\n")
	p.await(t, "\n\x1b[0;38;5;130m[1]\x1b[0m another\n")
	write(t, streams[0], "yes\n")
	p.await(t, "\x1b[0;38;5;31m[0]+\x1b[0m yes\n")
	for _, w := range streams {
		w.Close()
	}
	if cut := m.Drain(time.Minute); cut != 0 {
		t.Errorf("%d streams were cut off", cut)
	}
	p.slave.Close()
	<-p.over
}

// A terminal that is closed costs its lines and one warning, not the job.
func TestTerminalThatGoesAway(t *testing.T) {
	p := openPTY(t, 80)
	lost := make(chan string, 9)
	out, _ := Options{Env: xterm, Lost: func(name string, cause error) { lost <- fmt.Sprint(name, ": ", cause) }}.Sinks(p.slave, p.slave)
	var m Mux
	r, w := newPipe(t)
	var file bytes.Buffer
	m.Add(r, Stream{To: out, Prefix: "[0] ", File: &file, Holds: time.Minute})
	p.master.Close()
	write(t, w, "a\n")
	if got := <-lost; !strings.HasPrefix(got, "stdout: ") || !strings.Contains(got, "input/output error") {
		t.Errorf("told %q", got)
	}
	write(t, w, "b\nhalf")
	w.Close()
	if cut := m.Drain(time.Minute); cut != 0 || file.String() != "a\nb\nhalf" || len(lost) > 0 {
		t.Errorf("%d streams were cut off, file %q, told %d times more", cut, file.String(), len(lost))
	}
}

// A console that somebody else has made non-blocking is full at times, not gone.
func TestConsoleMadeNonBlocking(t *testing.T) {
	var fds [2]int
	if err := unix.Pipe2(fds[:], unix.O_CLOEXEC); err != nil {
		t.Fatal(err)
	}
	r, w := os.NewFile(uintptr(fds[0]), "r"), os.NewFile(uintptr(fds[1]), "w") // both block, as os.Stdout does
	defer r.Close()
	if err := unix.SetNonblock(fds[1], true); err != nil {
		t.Fatal(err)
	}
	sink := NewSink(w, func(err error) { t.Errorf("it is given up: %v", err) })
	text := strings.Repeat("0123456789\n", 50_000)
	go func() {
		defer w.Close()
		if _, err := sink.Write([]byte(text)); err != nil {
			t.Error(err)
		}
	}()
	got, err := io.ReadAll(r)
	if err != nil || string(got) != text {
		t.Errorf("%d bytes of %d, %v", len(got), len(text), err)
	}
}
