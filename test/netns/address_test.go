//go:build netns && linux

package netns

import (
	"bufio"
	"os/exec"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
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

// In Kubernetes the head's name resolves only once its pod has an address: the others
// wait, say so once, and go on.
func TestPodWaitsForTheHead(t *testing.T) {
	p := connected(t, "10.77.0.%d/24")
	p.resolves(0, "10.77.0.1 train-node-0-0.train")
	p.resolves(1)
	peer := p.start(1, inPod(1), lenslaunch(t)...)
	peer.await(t, "waiting for the head: its name does not resolve yet name=train-node-0-0.train")
	head := p.start(0, inPod(0), lenslaunch(t)...)
	p.resolves(1, "10.77.0.1 train-node-0-0.train") // the same file: it is mounted
	if a, b := head.code(), peer.code(); a != 0 || b != 0 || strings.Count(peer.out.String(), "waiting for the head") != 1 {
		t.Errorf("exit codes %d and %d:\n%s\n%s", a, b, &head.out, &peer.out)
	}
}

// A pod that waits is stopped at once.
func TestPodThatWaitsIsStopped(t *testing.T) {
	p := connected(t, "10.77.0.%d/24")
	p.resolves(1)
	peer := p.start(1, inPod(1), lenslaunch(t)...)
	peer.await(t, "waiting for the head")
	if err := peer.cmd.Process.Signal(unix.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if code := peer.code(); code != 143 || !strings.Contains(peer.out.String(), "stopping on SIGTERM") {
		t.Errorf("exit code %d:\n%s", code, &peer.out)
	}
}
