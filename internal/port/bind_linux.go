package port

import (
	"errors"

	"golang.org/x/sys/unix"
)

// bindAny binds the wildcard address of both families, or of IPv4 alone on a
// machine without IPv6. The wildcard meets every other holder of the port,
// whichever address that one uses.
func bindAny(port int) (fd int, taken bool, err error) {
	return bind(port, false)
}

func bind(port int, reuse bool) (fd int, taken bool, err error) {
	fd, err = bindSocket(unix.AF_INET6, &unix.SockaddrInet6{Port: port}, reuse)
	if errors.Is(err, unix.EAFNOSUPPORT) || errors.Is(err, unix.EADDRNOTAVAIL) {
		fd, err = bindSocket(unix.AF_INET, &unix.SockaddrInet4{Port: port}, reuse)
	}
	if errors.Is(err, unix.EADDRINUSE) {
		return -1, true, nil
	}
	return fd, false, err
}

// bindSocket returns a bound socket that has SO_REUSEADDR set, set before the
// bind if reuse and after it otherwise. The package comment says why the order
// matters.
func bindSocket(family int, address unix.Sockaddr, reuse bool) (int, error) {
	fd, err := unix.Socket(family, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return -1, err
	}
	if family == unix.AF_INET6 {
		err = unix.SetsockoptInt(fd, unix.IPPROTO_IPV6, unix.IPV6_V6ONLY, 0)
	}
	if err == nil && reuse {
		err = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_REUSEADDR, 1)
	}
	if err == nil {
		err = unix.Bind(fd, address)
	}
	if err == nil && !reuse {
		err = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_REUSEADDR, 1)
	}
	if err != nil {
		closeFD(fd)
		return -1, err
	}
	return fd, nil
}

// bindOverTimeWait takes a port whose only traces are connections in
// TIME_WAIT. A bind with SO_REUSEADDR would do that alone, but it would also
// take the port of another reservation. So a probe on one loopback address,
// bound without SO_REUSEADDR, comes first: it meets every wildcard holder and
// every other probe, but not the TIME_WAIT of other addresses; and while it is
// there nobody else can reserve the port.
func bindOverTimeWait(port int) (fd int, taken bool, err error) {
	probe, err := bindSocket(unix.AF_INET, &unix.SockaddrInet4{Port: port, Addr: [4]byte{127, 0, 0, 2}}, false)
	if errors.Is(err, unix.EADDRINUSE) {
		return -1, true, nil
	}
	if err != nil {
		return -1, false, err
	}
	defer closeFD(probe)
	return bind(port, true)
}
