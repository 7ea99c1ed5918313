package screen

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"go.uber.org/goleak"
	"golang.org/x/sys/unix"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// pty is a pseudoterminal: what is drawn can be read at master, and keys typed there.
type pty struct{ master, slave *os.File }

func openPTY(t *testing.T) pty {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("there are no pseudoterminals here: %v", err)
	}
	number := 0
	onTerminal(t, master, func(fd int) error {
		if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
			return err
		}
		number, err = unix.IoctlGetInt(fd, unix.TIOCGPTN)
		return err
	})
	slave, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	p := pty{master, slave}
	t.Cleanup(func() {
		slave.Close()
		master.Close()
	})
	p.resize(t, 100, 24)
	return p
}

func onTerminal(t *testing.T, f *os.File, do func(fd int) error) {
	t.Helper()
	raw, err := f.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	var failed error
	if err := raw.Control(func(fd uintptr) { failed = do(int(fd)) }); err != nil {
		t.Fatal(err)
	}
	if failed != nil {
		t.Fatal(failed)
	}
}

func (p pty) resize(t *testing.T, columns, lines uint16) {
	t.Helper()
	onTerminal(t, p.master, func(fd int) error {
		return unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: lines, Col: columns})
	})
}

func (p pty) modes(t *testing.T) unix.Termios {
	t.Helper()
	var modes unix.Termios
	onTerminal(t, p.slave, func(fd int) error {
		m, err := unix.IoctlGetTermios(fd, unix.TCGETS)
		if err == nil {
			modes = *m
		}
		return err
	})
	return modes
}

// until reads what was drawn, up to a text.
func (p pty) until(t *testing.T, end string) string {
	t.Helper()
	var text strings.Builder
	buf := make([]byte, 1)
	for !strings.HasSuffix(text.String(), end) {
		if _, err := p.master.Read(buf); err != nil {
			t.Fatalf("%v after %q, without %q", err, text.String(), end)
		}
		text.Write(buf)
	}
	return text.String()
}

func (p pty) typed(t *testing.T, text string) {
	t.Helper()
	if _, err := p.master.WriteString(text); err != nil {
		t.Fatal(err)
	}
}
