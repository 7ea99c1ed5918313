package port

import (
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// freePort returns a port that was free a moment ago.
func freePort(t *testing.T) int {
	t.Helper()
	res := mustReserve(t, testRange, 3)
	res.Close()
	return res.Port()
}

func TestReserveFixed(t *testing.T) {
	port := freePort(t)
	res, err := ReserveFixed(port, 3)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Close()
	if diff := cmp.Diff([]int{port, port + 1, port + 2}, res.Ports()); diff != "" {
		t.Errorf("ports (-want +got):\n%s", diff)
	}
}

func TestReserveFixedTakesFewerNeighbours(t *testing.T) {
	port := freePort(t)
	neighbour, err := ReserveFixed(port+1, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer neighbour.Close()
	res, err := ReserveFixed(port, 3)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Close()
	if diff := cmp.Diff([]int{port}, res.Ports()); diff != "" {
		t.Errorf("ports (-want +got):\n%s", diff)
	}
}

func TestReserveFixedEndsAtTheLastPort(t *testing.T) {
	res, err := ReserveFixed(65535, 3)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Close()
	if len(res.Ports()) != 1 {
		t.Errorf("ports %v", res.Ports())
	}
}

func TestReserveFixedNamesTheHolder(t *testing.T) {
	res := mustReserve(t, testRange, 1)
	l, err := storeListen("tcp", ":"+strconv.Itoa(res.Port()))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	res.Close()
	_, err = ReserveFixed(res.Port(), 1)
	var inUse *InUseError
	if !errors.As(err, &inUse) {
		t.Fatalf("ReserveFixed = %v, want an InUseError", err)
	}
	if len(inUse.Holders) != 1 || inUse.Holders[0].Pid != os.Getpid() {
		t.Errorf("holders %+v, want pid %d", inUse.Holders, os.Getpid())
	}
	for _, want := range []string{strconv.Itoa(res.Port()), strconv.Itoa(os.Getpid()), "port.test"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("error %q does not say %q", err, want)
		}
	}
}

// A reservation of another process shows in no table: the message admits it.
func TestReserveFixedAgainstAnotherReservation(t *testing.T) {
	answer, _, release := startHelper(t, helperJob{Range: testRange, Count: 1, Times: 1})
	var a helperAnswer
	if err := answer.Decode(&a); err != nil || a.err() != nil {
		t.Fatal(err, a.err())
	}
	port := a.Ports[0][0]
	_, err := ReserveFixed(port, 1)
	var inUse *InUseError
	if !errors.As(err, &inUse) || len(inUse.Holders) != 0 || !strings.Contains(err.Error(), "cannot be seen") {
		t.Fatalf("ReserveFixed = %v", err)
	}
	release()
	res, err := ReserveFixed(port, 1)
	if err != nil {
		t.Fatalf("after the holder's end: %v", err)
	}
	res.Close()
}

// leaveTimeWait makes the port one whose server closed first: for a minute the
// kernel refuses it to anybody who does not set SO_REUSEADDR.
func leaveTimeWait(t *testing.T, port int) {
	t.Helper()
	l, err := storeListen("tcp4", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	c, err := net.Dial("tcp4", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	served, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	served.Close()
	// The end of the stream says that the server's FIN is here; our close then
	// moves the server's side to TIME_WAIT.
	if _, err := c.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
		t.Fatal(err)
	}
}

func TestReserveFixedOverTimeWait(t *testing.T) {
	port := freePort(t)
	leaveTimeWait(t, port)
	if fd, taken, err := bindAny(port); !taken {
		t.Logf("no TIME_WAIT on port %d (fd %d, %v): the rest proves less", port, fd, err)
		closeFD(fd)
	}
	res, err := ReserveFixed(port, 1)
	if err != nil {
		t.Fatalf("a fixed port in TIME_WAIT: %v", err)
	}
	defer res.Close()
	// It is a reservation like any other: nobody else gets in, a store does.
	var inUse *InUseError
	if _, err := ReserveFixed(port, 1); !errors.As(err, &inUse) {
		t.Errorf("second ReserveFixed = %v", err)
	}
	if _, err := Reserve(Range{port, port}, 1); err == nil {
		t.Error("Reserve shared the port")
	}
	l, err := storeListen("tcp", ":"+strconv.Itoa(port))
	if err != nil {
		t.Fatalf("store on the reserved port: %v", err)
	}
	l.Close()
}

// Over TIME_WAIT too, one of many gets the port.
func TestReserveFixedOverTimeWaitAtOnce(t *testing.T) {
	port := freePort(t)
	leaveTimeWait(t, port)
	const contenders = 16
	start := make(chan struct{})
	results := make(chan *Reservation, contenders)
	for range contenders {
		go func() {
			<-start
			res, _ := ReserveFixed(port, 1)
			results <- res
		}()
	}
	close(start)
	winners := 0
	for range contenders {
		if res := <-results; res != nil {
			winners++
			t.Cleanup(res.Close)
		}
	}
	if winners > 1 {
		t.Errorf("%d reservations of one port", winners)
	}
}

func TestSocketInodes(t *testing.T) {
	table := `  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:5BA0 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 4711 1 0000000000000000 100 0 0 10 0
   1: 0100007F:5BA0 0100007F:A3A2 06 00000000:00000000 03:0000176F 00000000     0        0 0 3 00000000caf34831
   2: 0100007F:A3A2 0100007F:5BA0 01 00000000:00000000 00:00000000 00000000     0        0 4712 1 0000000000000000
   3: 0000000000000000FFFF00000100007F:5BA0 0000000000000000FFFF00000100007F:A3A2 01 0:0 00:0 0 0 0 4713 1
   4: short line
   5: nonsense:ZZZZ x x x x x x x 4714
`
	got := socketInodes(strings.NewReader(table), 0x5BA0)
	if diff := cmp.Diff([]string{"4711", "4713"}, got); diff != "" {
		t.Errorf("inodes (-want +got):\n%s", diff)
	}
}

func FuzzSocketInodes(f *testing.F) {
	f.Add("   0: 0100007F:5BA0 00000000:0000 0A 0:0 00:0 0 0 0 4711 1", 0x5BA0)
	f.Add(": : : : : : : : : :", 0)
	f.Fuzz(func(t *testing.T, table string, port int) {
		for _, inode := range socketInodes(strings.NewReader(table), port) {
			if inode == "" || inode == "0" {
				t.Fatalf("inode %q", inode)
			}
		}
	})
}

// A made-up /proc shows what is read from where, and that a process that ends
// while we look is passed over.
func TestHoldersFromProc(t *testing.T) {
	proc := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		path := filepath.Join(proc, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	link := func(name, target string) {
		t.Helper()
		path := filepath.Join(proc, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(target, path); err != nil {
			t.Fatal(err)
		}
	}
	write("net/tcp", " 0: 0100007F:733C 00000000:0000 0A 0:0 00:0 0 0 0 4711 1\n")
	write("900/cmdline", "python3\x00train.py\x00--lr\x000.1\x00")
	link("900/fd/3", "socket:[4711]")
	write("80/comm", "kworker\n") // no command line
	link("80/fd/9", "socket:[4711]")
	link("81/fd/9", "socket:[99]")
	write("82/cmdline", "gone while we look")
	got := holders(proc, 0x733C)
	want := []Holder{{80, "kworker"}, {900, "python3 train.py --lr 0.1"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("holders (-want +got):\n%s", diff)
	}
	message := (&InUseError{Port: 29500, Holders: got}).Error()
	if message != "cannot reserve port 29500: in use by pid 80 (kworker) and 1 more" {
		t.Errorf("message %q", message)
	}
}

func TestCommandIsOnePrintableLine(t *testing.T) {
	for _, test := range []struct{ cmdline, comm, want string }{
		{"a\x00b\x00", "x", "a b"},
		{"", "kthread\n", "kthread"},
		{"", "", ""},
		{"a\n\x1b[31mb\u009b\xff", "", "a??[31mb??"},
		{strings.Repeat("ä", 100), "", strings.Repeat("ä", 77) + "..."},
		{strings.Repeat("ä", 80), "", strings.Repeat("ä", 80)},
	} {
		if got := command(test.cmdline, test.comm); got != test.want {
			t.Errorf("command(%q, %q) = %q, want %q", test.cmdline, test.comm, got, test.want)
		}
	}
}
