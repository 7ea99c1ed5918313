//go:build telemetry && linux

package telemetry

import (
	"errors"
	"io"
	"net"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"lenslaunch/test/collector"
)

// loopback is a socket on a port of its own; nobody listens there yet.
func loopback(t *testing.T) (fd int, address string) {
	t.Helper()
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Close(fd) })
	if err := unix.Bind(fd, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		t.Fatal(err)
	}
	name, err := unix.Getsockname(fd)
	if err != nil {
		t.Fatal(err)
	}
	return fd, (&net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: name.(*unix.SockaddrInet4).Port}).String()
}

// absent is where a connection is refused; the port stays taken, so that nobody else
// comes to listen there.
func absent(t *testing.T) string {
	_, address := loopback(t)
	return address
}

// silent is where a connection is made by the kernel, and nobody takes or answers it.
func silent(t *testing.T) string {
	fd, address := loopback(t)
	if err := unix.Listen(fd, unix.SOMAXCONN); err != nil {
		t.Fatal(err)
	}
	return address
}

// hole is where not even a connection is made: the queue of those that wait is full,
// and the kernel drops what comes.
func hole(t *testing.T) string {
	fd, address := loopback(t)
	if err := unix.Listen(fd, 0); err != nil {
		t.Fatal(err)
	}
	for range 10 {
		connection, err := net.DialTimeout("tcp", address, 300*time.Millisecond)
		var late net.Error
		if errors.As(err, &late) && late.Timeout() {
			return address
		}
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { connection.Close() })
	}
	t.Fatal("a queue of no length takes more than ten connections")
	return ""
}

// slow is a Collector each of whose answers is late.
func slow(t *testing.T, c *collector.Collector, protocol string, by time.Duration) string {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			near, err := listener.Accept()
			if err != nil {
				return // the test has ended
			}
			go pass(t, near, c.Address(protocol), by)
		}
	}()
	return listener.Addr().String()
}

// pass passes on what comes from near at once, and what comes back late.
func pass(t *testing.T, near net.Conn, address string, by time.Duration) {
	defer near.Close()
	far, err := net.Dial("tcp", address)
	if err != nil {
		return // the Collector has ended, and with it this connection
	}
	go func() {
		defer far.Close()
		_, _ = io.Copy(far, near)
	}()
	for chunk := make([]byte, 64<<10); ; {
		n, err := far.Read(chunk)
		select {
		case <-time.After(by):
		case <-t.Context().Done():
			return
		}
		if _, failed := near.Write(chunk[:n]); err != nil || failed != nil {
			return
		}
	}
}
