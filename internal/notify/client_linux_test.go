package notify

import (
	"os"
	"os/exec"
	"testing"
)

// run starts a foreign client with the socket in its environment and returns its pid
// after it has ended without an error.
func run(t *testing.T, s *Socket, name string, args ...string) int {
	t.Helper()
	file, err := exec.LookPath(name)
	if err != nil {
		t.Skipf("no %s on this machine", name)
	}
	cmd := exec.Command(file, args...)
	cmd.Env = append(os.Environ(), "NOTIFY_SOCKET="+s.Path())
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v: %s", name, err, out)
	}
	return cmd.Process.Pid
}

// The convention as the Python packages implement it: connect, one datagram per
// message, in non-blocking mode, and the barrier by a pipe.
const pythonClient = `
import os, socket
address = os.environ["NOTIFY_SOCKET"]
if address.startswith("@"):
    address = "\0" + address[1:]
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC)
s.connect(address)
s.sendall(b"READY=1\nSTATUS=epoch 1, caf\xc3\xa9")
s.sendall(b"EXTEND_TIMEOUT_USEC=30000000")
r, w = os.pipe()
socket.send_fds(s, [b"BARRIER=1"], [w])
os.close(w)
assert os.read(r, 1) == b""
s.sendall(b"WATCHDOG=1\nPID=%d" % os.getpid())
`

func TestPythonClient(t *testing.T) {
	s, messages := receiving(t)
	pid := run(t, s, "python3", "-c", pythonClient)
	got := []Message{<-messages, <-messages, <-messages}
	// The interpreter may be started through a wrapper that does not exec it.
	if got[0].Pid != pid {
		t.Logf("the client's pid is %d, the process started was %d", got[0].Pid, pid)
	}
	for i, want := range []Message{
		{Ready: true, HasStatus: true, Status: "epoch 1, café"}, {Extend: 30e9}, {Watchdog: true},
	} {
		want.Pid = got[0].Pid
		if got[i] != want {
			t.Errorf("message %d is %+v, want %+v", i, got[i], want)
		}
	}
	if got[0].Pid <= 0 {
		t.Errorf("no sender: %+v", got[0])
	}
}

// The C library's client, which ends only after its barrier was released.
func TestSystemdClient(t *testing.T) {
	s, messages := receiving(t)
	run(t, s, "systemd-notify", "--ready", "--status=step 7")
	if m := <-messages; !m.Ready || m.Status != "step 7" || m.Pid <= 0 {
		t.Errorf("message %+v", m)
	}
}
