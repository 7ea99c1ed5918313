//go:build netns && linux

package netns

import (
	"bufio"
	"os/exec"
	"strings"
	"testing"
)

func TestNamesThatResolve(t *testing.T) {
	p := connected(t, "10.77.0.%d/24")
	for node := range 2 {
		p.resolves(node, "10.77.0.1 n1", "10.77.0.2 n2")
	}
	p.meet("10.77.0.1: n1 as it resolves here")
}

// A short name that the peer does not know: said there, and an address helps.
func TestShortNameUnknownOnThePeer(t *testing.T) {
	p := connected(t, "10.77.0.%d/24")
	p.resolves(0, "10.77.0.1 n1")
	p.resolves(1, "10.77.0.1 n1.cluster.example")
	p.refused(1, 2, "the head's name n1 does not resolve here", "--master-addr", "--iface")
	p.meet("10.77.0.1 from --master-addr", "--master-addr", "10.77.0.1")
}

// Debian's habit: a host's own name is 127.0.1.1. The others know better, and the head
// has to be told which interface is meant.
func TestHeadsNameIsLoopback(t *testing.T) {
	p := connected(t, "10.77.0.%d/24")
	p.resolves(0, "127.0.1.1 n1", "10.77.0.2 n2")
	p.resolves(1, "10.77.0.1 n1", "127.0.1.1 n2")
	p.refused(0, 2, "the head's name n1 resolves to 127.0.1.1 here, which no other node reaches", "--master-addr", "--iface")
	p.meet("10.77.0.1: ", "--iface", "eth0")
	// Beside the loopback address there may be the right one.
	p.resolves(0, "127.0.1.1 n1", "10.77.0.1 n1", "10.77.0.2 n2")
	p.meet("10.77.0.1: n1 as it resolves here")
}

// The peer takes the head for itself: its ranks would wait for nobody.
func TestHeadsNameIsLoopbackOnThePeer(t *testing.T) {
	p := connected(t, "10.77.0.%d/24")
	p.resolves(1, "127.0.0.1 n1", "10.77.0.2 n2")
	p.refused(1, 2, "the head's name n1 resolves to 127.0.0.1 here")
}

// Two networks: the name leads to both, or to one of them alone.
func TestTwoInterfaces(t *testing.T) {
	p := connected(t, "10.77.0.%d/24", "10.78.0.%d/24")
	for node := range 2 {
		p.resolves(node, "10.77.0.1 n1", "10.78.0.1 n1", "10.77.0.2 n2")
	}
	p.meet("10.78.0.1: ", "--iface", "eth1")
	p.meet("10.77.0.1: ", "--iface", "eth0")
	// An address without a way there is passed over.
	for node := range 2 {
		p.resolves(node, "192.0.2.1 n1", "10.78.0.1 n1")
	}
	p.meet("10.78.0.1: n1 as it resolves here")
}

func TestIPv6Alone(t *testing.T) {
	p := connected(t, "fd77::%d/64")
	for node := range 2 {
		p.resolves(node, "fd77::1 n1", "fd77::2 n2")
	}
	p.meet("fd77::1: n1 as it resolves here")
	// The name has an address of the other family, too, which leads nowhere.
	for node := range 2 {
		p.resolves(node, "192.0.2.1 n1", "fd77::1 n1")
	}
	p.meet("fd77::1: n1 as it resolves here")
	p.meet("fd77::1: ", "--iface", "eth0")
}

// The port of the step is taken on the head: run again, and who has it.
func TestHeadsPortIsTaken(t *testing.T) {
	p := connected(t, "10.77.0.%d/24")
	p.resolves(0, "10.77.0.1 n1", "10.77.0.2 n2")
	script := "import socket, time\ns = socket.socket()\ns.bind(('', 12002))\ns.listen()\nprint('listening', flush=True)\ntime.sleep(600)"
	squatter := exec.CommandContext(t.Context(), "ip", "netns", "exec", p.names[0], "python3", "-c", script)
	out, err := squatter.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := squatter.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = squatter.Process.Kill(); _ = squatter.Wait() }()
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || strings.TrimSpace(line) != "listening" {
		t.Fatalf("%q, %v", line, err)
	}
	p.refused(0, 75, "cannot reserve port 12002: in use by pid ", "python3", "every step has a port of its own")
}
