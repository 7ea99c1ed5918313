package port

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// Reserve holds count ports in a row inside r, in a random place, or fewer if
// no such run is free; one is enough for it to succeed. count below 1 means 1.
// It errs when no port of r can be had and when the system refuses sockets.
func Reserve(r Range, count int) (*Reservation, error) {
	if err := r.check(); err != nil {
		return nil, fmt.Errorf("cannot reserve a port: %w", err)
	}
	return search(r, ephemeralRange("/proc"), max(count, 1), bindAllowed, closeFD)
}

// bindAllowed counts a port below 1024 that only root may bind as taken, so
// that a range over that border is not a matter of luck.
func bindAllowed(port int) (fd int, taken bool, err error) {
	fd, taken, err = bindAny(port)
	if errors.Is(err, unix.EACCES) {
		return -1, true, nil
	}
	return fd, taken, err
}

// ReserveFixed holds exactly this port and, where they are free, the count-1
// ports after it. If the port has a holder, the error is a [*InUseError] that
// names it where it can be seen.
//
// Connections in TIME_WAIT do not count as a holder. They stay for a minute
// after a store is gone, and a loop around the launcher that uses a fixed port
// would otherwise fail at its second turn.
func ReserveFixed(port, count int) (*Reservation, error) {
	if err := (Range{First: port, Last: port}).check(); err != nil {
		return nil, fmt.Errorf("cannot reserve a port: %d is not within 1-65535", port)
	}
	fd, taken, err := bindAny(port)
	if taken {
		fd, taken, err = bindOverTimeWait(port)
	}
	if err != nil {
		return nil, fmt.Errorf("cannot reserve port %d: %w", port, err)
	}
	if taken {
		return nil, &InUseError{Port: port, Holders: holders("/proc", port)}
	}
	res := &Reservation{release: closeFD}
	res.add(port, fd)
	for next := port + 1; next < port+count && next <= 65535; next++ {
		fd, taken, err := bindAny(next)
		if taken || err != nil {
			break
		}
		res.add(next, fd)
	}
	return res, nil
}

// Ephemeral is the range from which this host's kernel serves "any port", false if
// that is not known. A port that was not reserved before may be taken in it.
func Ephemeral() (Range, bool) {
	r := ephemeralRange("/proc")
	return r, r.check() == nil
}

// ephemeralRange is the range from which the kernel serves "any port", or an
// empty one below all ports if it cannot be read.
func ephemeralRange(proc string) Range {
	var r Range
	text, err := os.ReadFile(proc + "/sys/net/ipv4/ip_local_port_range")
	if err == nil {
		_, err = fmt.Sscan(strings.TrimSpace(string(text)), &r.First, &r.Last)
	}
	if err != nil || r.check() != nil {
		return Range{First: 0, Last: 0}
	}
	return r
}

func closeFD(fd int) { _ = unix.Close(fd) }
