package notify

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"
)

// newDirectory is Directory, cleaned up.
func newDirectory(t *testing.T) string {
	t.Helper()
	dir, err := Directory()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// receiving is a socket whose messages come out of a channel.
func receiving(t *testing.T) (*Socket, <-chan Message) {
	t.Helper()
	s, err := Listen(newDirectory(t), "rank-0")
	if err != nil {
		t.Fatal(err)
	}
	messages, done := make(chan Message, 8), make(chan error, 1)
	go func() {
		done <- s.Receive(func(m Message, at time.Time) {
			if age := time.Since(at); age < 0 || age > time.Minute {
				m.Status = fmt.Sprintf("received %v ago", age)
			}
			messages <- m
		})
	}()
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return s, messages
}

func expect(t *testing.T, messages <-chan Message, want Message) {
	t.Helper()
	if diff := cmp.Diff(want, <-messages); diff != "" {
		t.Errorf("message (-want +got):\n%s", diff)
	}
}

func dial(t *testing.T, path string) *net.UnixConn {
	t.Helper()
	conn, err := net.DialUnix("unixgram", nil, &net.UnixAddr{Name: path, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return conn
}

// send sends one datagram with control messages, which net's connected sockets refuse
// to send.
func send(t *testing.T, s *Socket, text string, control []byte) {
	t.Helper()
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	if err := unix.Sendmsg(fd, []byte(text), control, &unix.SockaddrUnix{Name: s.Path()}, 0); err != nil {
		t.Fatal(err)
	}
}

func TestReceiveInOrder(t *testing.T) {
	s, messages := receiving(t)
	conn, self := dial(t, s.Path()), os.Getpid()
	// More than the queue of a socket holds: the sender waits, nothing is lost.
	const n = 100
	go func() {
		for i := range n {
			fmt.Fprintf(conn, "STATUS=%d", i)
		}
	}()
	for i := range n {
		expect(t, messages, Message{HasStatus: true, Status: fmt.Sprint(i), Pid: self})
	}
}

func TestSenderIsAttested(t *testing.T) {
	s, messages := receiving(t)
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "NOTIFY_SOCKET="+s.Path(), "NOTIFY_TEST_SEND=READY=1\nMAINPID=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	expect(t, messages, Message{Ready: true, MainPID: 1, Pid: cmd.Process.Pid})
}

func TestSaysNothingIsNotDelivered(t *testing.T) {
	s, messages := receiving(t)
	for _, text := range []string{"", "BARRIER=1", "STATUS=" + strings.Repeat("x", MaxMessage), "READY=1\x00\x00x"} {
		send(t, s, text, nil)
	}
	send(t, s, "READY=1", nil)
	expect(t, messages, Message{Ready: true, Pid: os.Getpid()})
}

func TestOtherUsersAreIgnored(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can name another user as the sender")
	}
	s, messages := receiving(t)
	other := unix.UnixCredentials(&unix.Ucred{Pid: int32(os.Getpid()), Uid: 65534, Gid: 65534})
	send(t, s, "STATUS=from somebody else", other)
	send(t, s, "STATUS=ours", nil)
	expect(t, messages, Message{HasStatus: true, Status: "ours", Pid: os.Getpid()})
}

// A sender that attaches files must not fill the launcher's table, and
// sd_notify_barrier(3) waits until the receiver has closed the one it sent.
func TestAttachedFilesAreClosed(t *testing.T) {
	s, messages := receiving(t)
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	before := openFiles(t)
	fds := make([]int, 200)
	for i := range fds {
		fds[i] = int(w.Fd())
	}
	send(t, s, "BARRIER=1", unix.UnixRights(fds...))
	send(t, s, "READY=1", unix.UnixRights(int(w.Fd())))
	w.Close()
	expect(t, messages, Message{Ready: true, Pid: os.Getpid()})
	if n, err := r.Read(make([]byte, 1)); n != 0 || err == nil {
		t.Errorf("Read of the barrier = %d, %v, want its end", n, err)
	}
	// Ours of the pipe's writing end has gone.
	if after := openFiles(t); after != before-1 {
		t.Errorf("%d open files, want %d", after, before-1)
	}
}

func openFiles(t *testing.T) int { return entries(t, "/proc/self/fd") }

func entries(t *testing.T, dir string) int {
	t.Helper()
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	return len(list)
}

// 512 ranks must not hold 512 threads.
func TestHoldsNoThread(t *testing.T) {
	const sockets = 64
	before := entries(t, "/proc/self/task")
	for range sockets {
		s, messages := receiving(t)
		send(t, s, "READY=1", nil)
		<-messages
	}
	// Some threads may be the runtime's own, started meanwhile.
	if grown := entries(t, "/proc/self/task") - before; grown > sockets/4 {
		t.Errorf("%d sockets hold %d threads", sockets, grown)
	}
}

func TestClose(t *testing.T) {
	s, err := Listen(newDirectory(t), "rank-0")
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
	if _, err := os.Lstat(s.Path()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the socket is still there: %v", err)
	}
	if err := s.Receive(func(Message, time.Time) { t.Error("a message") }); err != nil {
		t.Errorf("Receive after Close: %v", err)
	}
}

func TestCloseWithoutTheFile(t *testing.T) {
	s, err := Listen(newDirectory(t), "rank-0")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(s.Path()); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Errorf("a socket that a cleaner of /tmp has removed: %v", err)
	}
}

func TestListenRefuses(t *testing.T) {
	private := newDirectory(t)
	open := filepath.Join(private, "open")
	link, file := filepath.Join(private, "link"), filepath.Join(private, "file")
	deep := filepath.Join(private, strings.Repeat("d", maxPath))
	for _, err := range []error{
		os.Mkdir(open, 0o700), os.Chmod(open, 0o710), os.Symlink(private, link),
		os.WriteFile(file, nil, 0o600), os.Mkdir(deep, 0o700),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	tests := []struct{ name, dir, socket, want string }{
		{"others can enter", open, "s", "other users can enter"},
		{"a link", link, "s", "is no directory"},
		{"a file", file, "s", "is no directory"},
		{"nothing there", filepath.Join(private, "no"), "s", "no such file"},
		{"too long", deep, "s", "a socket's at most 103"},
		{"relative", "here", "s", "not the absolute path"},
		{"outside", private, "../s", "not the absolute path"},
		{"no name", private, "", "not the absolute path"},
		{"taken", private, "file", "address already in use"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, err := Listen(tt.dir, tt.socket)
			if err == nil {
				s.Close()
				t.Fatal("no error")
			}
			if text := err.Error(); !strings.Contains(text, tt.want) || !strings.HasPrefix(text, "cannot listen for notifications at ") {
				t.Errorf("error %q, want %q in it", text, tt.want)
			}
		})
	}
}

func TestListenRefusesAnotherUsersDirectory(t *testing.T) {
	dir := newDirectory(t)
	if os.Geteuid() != 0 {
		t.Skip("only root can give a directory away")
	}
	if err := os.Chown(dir, 65534, 65534); err != nil {
		t.Fatal(err)
	}
	if _, err := Listen(dir, "s"); err == nil || !strings.Contains(err.Error(), "belongs to another user") {
		t.Errorf("error %v", err)
	}
}

func TestDirectory(t *testing.T) {
	dir := newDirectory(t)
	info, err := os.Lstat(dir)
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode() != fs.ModeDir|0o700 || info.Sys().(*syscall.Stat_t).Uid != uint32(os.Geteuid()) {
		t.Errorf("mode %v", info.Mode())
	}
	s, err := Listen(dir, "rank-2147483647.sock")
	if err != nil {
		t.Fatalf("no room for the longest name: %v", err)
	}
	s.Close()
}

// A batch job's temporary directory may be too long for a socket.
func TestDirectoryTakesTheNextParent(t *testing.T) {
	base := newDirectory(t)
	long := filepath.Join(base, strings.Repeat("l", maxPath))
	if err := os.Mkdir(long, 0o700); err != nil {
		t.Fatal(err)
	}
	got, err := directory(long, filepath.Join(base, "missing"), "relative", "/tmp", base)
	if err != nil {
		t.Fatal(err)
	}
	defer os.Remove(got)
	if filepath.Dir(got) != "/tmp" {
		t.Errorf("directory = %q, want one in /tmp", got)
	}
	if n := entries(t, long); n != 0 {
		t.Errorf("%d entries left behind", n)
	}
	if _, err := directory(long, filepath.Join(base, "missing")); err == nil ||
		!strings.Contains(err.Error(), "unfit for a socket") || !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("error %v does not say what is wrong with both", err)
	}
}
