package screen

import (
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"
)

func open(t *testing.T, p pty) *Screen {
	t.Helper()
	s, err := Open(p.slave)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	p.until(t, enter)
	return s
}

// A terminal is given back as it was: its modes, its first screen, its cursor.
func TestCloseGivesTheTerminalBack(t *testing.T) {
	p := openPTY(t)
	before := p.modes(t)
	s := open(t, p)
	during := p.modes(t)
	if during.Lflag&(unix.ICANON|unix.ECHO) != 0 || during.Lflag&unix.ISIG == 0 {
		t.Errorf("modes %x while it is ours", during.Lflag)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	p.until(t, leave)
	if diff := cmp.Diff(before, p.modes(t)); diff != "" {
		t.Errorf("modes (-before +after):\n%s", diff)
	}
	// Again, as a deferred Close does after one that was asked for.
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// A bug of the caller's leaves no terminal behind that has to be reset blindly.
func TestPanicGivesTheTerminalBack(t *testing.T) {
	p := openPTY(t)
	before := p.modes(t)
	func() {
		defer func() { _ = recover() }()
		s := open(t, p)
		defer s.Close()
		panic("a bug")
	}()
	p.until(t, leave)
	if diff := cmp.Diff(before, p.modes(t)); diff != "" {
		t.Errorf("modes (-before +after):\n%s", diff)
	}
}

// What others share with us stays as it was: a shell whose terminal does not block any
// more thinks that its input has ended.
func TestOpenLeavesTheDescriptorAlone(t *testing.T) {
	p := openPTY(t)
	flags := func() (flags int) {
		onTerminal(t, p.slave, func(fd int) (err error) {
			flags, err = unix.FcntlInt(uintptr(fd), unix.F_GETFL, 0)
			return err
		})
		return flags
	}
	before := flags()
	open(t, p)
	if after := flags(); after != before {
		t.Errorf("flags %x, they were %x", after, before)
	}
}

func TestDraw(t *testing.T) {
	p := openPTY(t)
	s := open(t, p)
	if err := s.Draw([]string{"one", "two"}); err != nil {
		t.Fatal(err)
	}
	// The terminal adds a \r to each line end itself.
	got := strings.ReplaceAll(p.until(t, "\x1b[J"), "\r\r", "\r")
	if want := "\x1b[Hone\x1b[K\r\ntwo\x1b[K\x1b[J"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	// What has no room would scroll the head out of sight.
	p.resize(t, 80, 3)
	if err := s.Draw(strings.Split("a b c d e", " ")); err != nil {
		t.Fatal(err)
	}
	if got := p.until(t, "\x1b[J"); strings.Contains(got, "d") || !strings.Contains(got, "c") {
		t.Errorf("%q", got)
	}
}

func TestSize(t *testing.T) {
	p := openPTY(t)
	s := open(t, p)
	for _, want := range [][2]int{{100, 24}, {43, 7}} {
		p.resize(t, uint16(want[0]), uint16(want[1]))
		if columns, lines := s.Size(); columns != want[0] || lines != want[1] {
			t.Errorf("%d by %d, want %v", columns, lines, want)
		}
		if columns := Columns(p.slave); columns != want[0] {
			t.Errorf("%d columns, want %v", columns, want)
		}
	}
	// A serial line does not know.
	p.resize(t, 0, 0)
	if columns, lines := s.Size(); columns != 80 || lines != 24 {
		t.Errorf("%d by %d", columns, lines)
	}
}

func TestKeys(t *testing.T) {
	p := openPTY(t)
	s := open(t, p)
	p.typed(t, "j\x1b[5~q")
	for _, want := range []Key{'j', KeyPageUp, 'q'} {
		if got := <-s.Keys(); got != want {
			t.Errorf("key %v, want %v", got, want)
		}
	}
	// Keys that nobody takes hold up nothing.
	p.typed(t, "abc")
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	for range s.Keys() {
	}
}

// A terminal that goes away, as with the ssh that it came by, ends the keys.
func TestKeysEndWithTheTerminal(t *testing.T) {
	p := openPTY(t)
	s := open(t, p)
	p.master.Close()
	for range s.Keys() {
	}
	if err := s.Draw([]string{"x"}); err == nil {
		t.Error("drawn on nothing")
	}
}

func TestSuspendAndResume(t *testing.T) {
	p := openPTY(t)
	before := p.modes(t)
	s := open(t, p)
	for range 2 { // the second time there is nothing to do
		if err := s.Suspend(); err != nil {
			t.Fatal(err)
		}
	}
	p.until(t, leave)
	if diff := cmp.Diff(before, p.modes(t)); diff != "" {
		t.Errorf("modes (-before +suspended):\n%s", diff)
	}
	if err := s.Draw([]string{"x"}); err != nil {
		t.Errorf("drawing while suspended: %v", err)
	}
	for range 2 {
		if err := s.Resume(); err != nil {
			t.Fatal(err)
		}
	}
	if got := p.until(t, enter); got != enter {
		t.Errorf("%q: something was drawn while the terminal was another's", got)
	}
	if p.modes(t).Lflag&unix.ECHO != 0 {
		t.Error("keys are echoed")
	}
}

// A terminal that takes nothing (Ctrl-S, a dead line) holds nobody up for ever.
func TestDrawOnAFullTerminal(t *testing.T) {
	p := openPTY(t)
	s := open(t, p)
	began := time.Now()
	full := []string{strings.Repeat("x", 1<<20)} // nobody reads at master
	if err := s.Draw(full); err != nil {
		t.Errorf("error %v", err)
	}
	if took := time.Since(began); took < patience || took > 20*patience {
		t.Errorf("it took %v", took)
	}
}

func TestNoTerminal(t *testing.T) {
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	closed, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	closed.Close()
	for _, f := range []*os.File{nil, null, closed} {
		if s, err := Open(f); s != nil || !errors.Is(err, ErrNoTerminal) {
			t.Errorf("%v, %v", s, err)
		}
		if IsTerminal(f) || Columns(f) != 0 {
			t.Error("it is a terminal")
		}
	}
	if !IsTerminal(openPTY(t).slave) {
		t.Error("a terminal is none")
	}
}
