package port

import (
	"context"
	"errors"
	"net"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// testRange keeps away from the default range, where a real launch may run.
var testRange = Range{First: 17000, Last: 18999}

func mustReserve(t *testing.T, r Range, count int) *Reservation {
	t.Helper()
	res, err := Reserve(r, count)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(res.Close)
	return res
}

// storeListen binds and listens as rank 0's store does: SO_REUSEADDR first.
func storeListen(network, address string) (net.Listener, error) {
	config := net.ListenConfig{Control: func(_, _ string, c syscall.RawConn) error {
		var err error
		if e := c.Control(func(fd uintptr) {
			err = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_REUSEADDR, 1)
		}); e != nil {
			return e
		}
		return err
	}}
	return config.Listen(context.Background(), network, address)
}

func TestStoreListensOnAReservedPort(t *testing.T) {
	for _, where := range []struct{ network, host string }{
		{"tcp", ""}, {"tcp4", "127.0.0.1"}, {"tcp4", "0.0.0.0"}, {"tcp6", "::1"}, {"tcp6", "::"},
	} {
		t.Run(where.network+" "+where.host, func(t *testing.T) {
			res := mustReserve(t, testRange, 1)
			address := net.JoinHostPort(where.host, strconv.Itoa(res.Port()))
			l, err := storeListen(where.network, address)
			if errors.Is(err, unix.EADDRNOTAVAIL) || errors.Is(err, unix.EAFNOSUPPORT) {
				t.Skipf("this machine has no %s: %v", where.network, err)
			}
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close()
			exchange(t, l)
			// The store may go and come again while the reservation lives.
			l.Close()
			again, err := storeListen(where.network, address)
			if err != nil {
				t.Fatalf("second store on the reserved port: %v", err)
			}
			again.Close()
		})
	}
}

// exchange proves that connections reach the listener, not the reservation.
func exchange(t *testing.T, l net.Listener) {
	t.Helper()
	accepted := make(chan error, 1)
	go func() {
		c, err := l.Accept()
		if err == nil {
			_, err = c.Write([]byte("x"))
			c.Close()
		}
		accepted <- err
	}()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	host := "127.0.0.1"
	if l.Addr().(*net.TCPAddr).IP.Equal(net.IPv6loopback) {
		host = "::1"
	}
	if l.Addr().(*net.TCPAddr).IP.Equal(net.IPv6unspecified) && l.Addr().Network() == "tcp6" {
		host = "::1"
	}
	c, err := net.Dial("tcp", net.JoinHostPort(host, port))
	if err != nil && host == "127.0.0.1" {
		c, err = net.Dial("tcp", net.JoinHostPort("::1", port))
	}
	if err != nil {
		l.Close()
		t.Fatal(err, <-accepted)
	}
	defer c.Close()
	if _, err := c.Read(make([]byte, 1)); err != nil {
		t.Error(err)
	}
	if err := <-accepted; err != nil {
		t.Error(err)
	}
}

// A reservation does not listen: a rank that connects too early is refused at
// once and tries again, rather than hang in a queue that nobody accepts.
func TestReservationRefusesConnections(t *testing.T) {
	res := mustReserve(t, testRange, 1)
	c, err := net.Dial("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(res.Port())))
	if err == nil {
		c.Close()
	}
	if !errors.Is(err, unix.ECONNREFUSED) {
		t.Errorf("dial = %v, want connection refused", err)
	}
}

// Whatever address another program uses, the port counts as taken.
func TestReserveMeetsEveryOtherHolder(t *testing.T) {
	for _, where := range []struct{ network, host string }{
		{"tcp4", "127.0.0.1"}, {"tcp4", "127.0.0.3"}, {"tcp4", "0.0.0.0"}, {"tcp6", "::1"}, {"tcp6", "::"}, {"tcp", ""},
	} {
		t.Run(where.network+" "+where.host, func(t *testing.T) {
			// Let a reservation choose a free port, then give it to the listener,
			// which like most servers sets SO_REUSEADDR.
			res := mustReserve(t, testRange, 1)
			l, err := storeListen(where.network, net.JoinHostPort(where.host, strconv.Itoa(res.Port())))
			if errors.Is(err, unix.EADDRNOTAVAIL) || errors.Is(err, unix.EAFNOSUPPORT) {
				t.Skipf("this machine has no %s: %v", where.network, err)
			}
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close()
			res.Close()
			taken := Range{res.Port(), res.Port()}
			if other, err := Reserve(taken, 1); err == nil {
				other.Close()
				t.Fatalf("port %d was reserved while %v listens", res.Port(), l.Addr())
			}
			_, err = ReserveFixed(res.Port(), 1)
			var inUse *InUseError
			if !errors.As(err, &inUse) {
				t.Fatalf("ReserveFixed = %v, want an InUseError", err)
			}
		})
	}
}

func TestReserveNeverSharesAPort(t *testing.T) {
	res := mustReserve(t, testRange, 1)
	taken := Range{res.Port(), res.Port()}
	other, err := Reserve(taken, 1)
	if err == nil {
		other.Close()
		t.Fatal("a second reservation got the same port")
	}
	for _, want := range []string{"all 1 ports", taken.String()} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("error %q does not say %q", err, want)
		}
	}
	var inUse *InUseError
	if _, err := ReserveFixed(res.Port(), 1); !errors.As(err, &inUse) {
		t.Errorf("ReserveFixed on a reserved port = %v", err)
	}
	res.Close()
	mustReserve(t, taken, 1)
}

// A store that listens keeps the port taken even after its reservation closed.
func TestCloseLeavesTheStoreAlone(t *testing.T) {
	res := mustReserve(t, testRange, 1)
	l, err := storeListen("tcp4", net.JoinHostPort("127.0.0.1", strconv.Itoa(res.Port())))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	res.Close()
	exchange(t, l)
}

func TestReserveThreeInARow(t *testing.T) {
	res := mustReserve(t, testRange, 3)
	ports := res.Ports()
	if len(ports) != 3 || ports[1] != ports[0]+1 || ports[2] != ports[0]+2 {
		t.Errorf("ports %v, want three in a row", ports)
	}
	for _, port := range ports {
		if !testRange.Contains(port) {
			t.Errorf("port %d is outside %v", port, testRange)
		}
	}
}

func TestDescriptorsAreCloseOnExec(t *testing.T) {
	res := mustReserve(t, testRange, 2)
	for _, fd := range res.fds {
		flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0)
		if err != nil || flags&unix.FD_CLOEXEC == 0 {
			t.Errorf("descriptor %d has flags %#x, %v", fd, flags, err)
		}
	}
}

// Two hundred launches at once on one host, from as many processes as that
// takes: no port is handed out twice, not even the neighbours.
func TestTwoHundredReservationsAtOnce(t *testing.T) {
	const processes, each, own = 16, 10, 40
	job := helperJob{Range: testRange, Count: 3, Times: each}
	holder := map[int]string{}
	note := func(who string, ports []int) {
		for _, port := range ports {
			if other := holder[port]; other != "" {
				t.Errorf("port %d was given to %s and to %s", port, other, who)
			}
			holder[port] = who
		}
	}
	var helpers []func() (helperAnswer, error)
	for range processes {
		answer, _, _ := startHelper(t, job)
		helpers = append(helpers, func() (a helperAnswer, err error) {
			if err = answer.Decode(&a); err == nil {
				err = a.err()
			}
			return a, err
		})
	}
	results := make(chan *Reservation, own) // has room for all: closed before it is read
	var group sync.WaitGroup
	for range own {
		group.Go(func() {
			res, err := Reserve(testRange, 3)
			if err != nil {
				t.Error(err)
				return
			}
			results <- res
		})
	}
	group.Wait()
	close(results)
	for res := range results {
		note("this process", res.Ports())
		t.Cleanup(res.Close)
	}
	for i, helper := range helpers {
		answer, err := helper()
		if err != nil {
			t.Fatal(err)
		}
		for _, ports := range answer.Ports {
			note("helper "+strconv.Itoa(i), ports)
		}
	}
	if len(holder) < processes*each+own {
		t.Errorf("only %d ports for %d reservations", len(holder), processes*each+own)
	}
}

// The kernel serves "any port" from elsewhere, also when our range is the
// ephemeral one: what is bound is not given away.
func TestAnyPortNeverMeetsAReservation(t *testing.T) {
	ephemeral := ephemeralRange("/proc")
	if ephemeral.First == 0 {
		t.Skip("cannot read the ephemeral range")
	}
	held := map[int]bool{}
	for range 200 {
		res := mustReserve(t, ephemeral, 3)
		for _, port := range res.Ports() {
			held[port] = true
		}
	}
	for range 2000 {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		port := l.Addr().(*net.TCPAddr).Port
		l.Close()
		if held[port] {
			t.Fatalf("the kernel gave away port %d, which is reserved", port)
		}
	}
}

func TestReserveRejectsBadArguments(t *testing.T) {
	for _, r := range []Range{{0, 10}, {10, 9}, {1, 65536}, {-1, 5}} {
		if _, err := Reserve(r, 1); err == nil {
			t.Errorf("Reserve(%v) did not err", r)
		}
	}
	for _, port := range []int{-1, 0, 65536} {
		if _, err := ReserveFixed(port, 1); err == nil || !strings.Contains(err.Error(), "1-65535") {
			t.Errorf("ReserveFixed(%d) = %v", port, err)
		}
	}
	if res := mustReserve(t, testRange, 0); len(res.Ports()) != 1 {
		t.Errorf("count 0 gave %v", res.Ports())
	}
}

func TestEphemeralRange(t *testing.T) {
	got := ephemeralRange("/proc")
	if got.check() != nil {
		t.Errorf("ephemeral range of this machine: %v", got)
	}
	if got := ephemeralRange(t.TempDir()); got != (Range{}) {
		t.Errorf("without /proc: %v", got)
	}
}
