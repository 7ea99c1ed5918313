package harness

import (
	"fmt"
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

// A PTY is a pseudoterminal. Whatever holds Slave sees a terminal; the test types and
// reads at Master.
type PTY struct{ Master, Slave *os.File }

// OpenPTY makes a terminal of 24 lines and 100 columns. It is closed with the test.
func OpenPTY(t testing.TB) *PTY {
	t.Helper()
	p, err := openPTY()
	if err != nil {
		t.Fatalf("cannot open a pseudoterminal: %v", err)
	}
	t.Cleanup(p.Close)
	return p
}

func openPTY() (*PTY, error) {
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		return nil, err
	}
	slave, err := openSlave(master)
	if err != nil {
		master.Close()
		return nil, err
	}
	return &PTY{Master: master, Slave: slave}, nil
}

// openSlave opens the other end. The master stays with the poller, so that closing it
// ends a Read: nothing here may call its Fd.
func openSlave(master *os.File) (*os.File, error) {
	raw, err := master.SyscallConn()
	if err != nil {
		return nil, err
	}
	number, failed := 0, error(nil)
	err = raw.Control(func(fd uintptr) {
		if failed = unix.IoctlSetPointerInt(int(fd), unix.TIOCSPTLCK, 0); failed != nil {
			return
		}
		if failed = unix.IoctlSetWinsize(int(fd), unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: 100}); failed != nil {
			return
		}
		number, failed = unix.IoctlGetInt(int(fd), unix.TIOCGPTN)
	})
	if err == nil {
		err = failed
	}
	if err != nil {
		return nil, err
	}
	return os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
}

// Close hangs up: what has the terminal as its own gets SIGHUP.
func (p *PTY) Close() {
	p.Slave.Close()
	p.Master.Close()
}
