//go:build faults && linux

package faults

import (
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// stepBack sets the machine's clock back until the test ends.
func stepBack(t *testing.T, by time.Duration) {
	t.Helper()
	if os.Geteuid() != 0 || os.Getenv("CI") != "true" {
		t.Skip("sets the machine's clock: only as root, and with CI=true")
	}
	set := func(by time.Duration) error {
		to := unix.NsecToTimespec(time.Now().Add(by).UnixNano())
		return unix.ClockSettime(unix.CLOCK_REALTIME, &to)
	}
	if err := set(-by); err != nil {
		t.Skip("cannot set the machine's clock:", err)
	}
	t.Cleanup(func() {
		if err := set(by); err != nil {
			t.Error("the machine's clock is late now by ", by, ": ", err)
		}
	})
}

// All that waits, waits by the monotonic clock: a clock that is set back in between
// (ntpd, a machine that was moved) neither holds up a ladder nor a restart, nor does
// anything last less than no time.
func TestClockSteppedBack(t *testing.T) {
	s := plainScene(t)
	s.begin(mustKind(t, "ignores TERM"), "--max-restarts", "1", "--restart-delay", "200ms")
	stepBack(t, 10*time.Minute)
	s.rank(1).tell("exit 3")
	s.arrive(s.ranks)
	s.signal(syscall.SIGTERM)
	s.requireEnd(143)
	if said := s.said(); !strings.Contains(said, "restart 1 of 1 in ") || strings.Contains(said, "after -") {
		t.Errorf("the launcher's stderr:\n%s", said)
	}
}
