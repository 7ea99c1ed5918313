package notify

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Socket is the receiving end of one rank's NOTIFY_SOCKET.
type Socket struct {
	conn *net.UnixConn
	path string
	uid  uint32
}

// Listen binds a socket of that name in dir, an absolute path of a directory that
// belongs to this user and that nobody else can enter (see [Directory]). From then on
// messages are kept by the kernel until Receive reads them, a few; then senders wait.
func Listen(dir, name string) (*Socket, error) {
	path := filepath.Join(dir, name)
	fail := func(err error) (*Socket, error) {
		return nil, fmt.Errorf("cannot listen for notifications at %s: %w", path, err)
	}
	if !filepath.IsAbs(dir) || filepath.Base(path) != name {
		return fail(errors.New("not the absolute path of a file in its directory"))
	}
	if len(path) > maxPath {
		return fail(fmt.Errorf("the path has %d bytes, a socket's at most %d", len(path), maxPath))
	}
	if err := checkDirectory(dir); err != nil {
		return fail(err)
	}
	// Before the bind: a message that came earlier would have no sender.
	config := net.ListenConfig{Control: passCredentials}
	conn, err := config.ListenPacket(context.Background(), "unixgram", path)
	var op *net.OpError
	if errors.As(err, &op) {
		return fail(op.Err) // without the address, which is named already
	}
	if err != nil {
		return fail(err)
	}
	return &Socket{conn: conn.(*net.UnixConn), path: path, uid: uint32(os.Geteuid())}, nil
}

func passCredentials(_, _ string, raw syscall.RawConn) error {
	var failed error
	err := raw.Control(func(fd uintptr) {
		failed = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_PASSCRED, 1)
	})
	return errors.Join(err, failed)
}

// Path is the value of NOTIFY_SOCKET.
func (s *Socket) Path() string { return s.path }

// Receive calls deliver for each message that says something, in the order of their
// arrival, with the time when it was read, until Close; then it returns nil. deliver
// must not block: its rank's next message waits, and after a few the rank does.
func (s *Socket) Receive(deliver func(Message, time.Time)) error {
	// A byte more than the limit shows that a message was longer. The control buffer
	// holds the sender and nothing else: where it has no room for the descriptors of a
	// message, the kernel closes them.
	text := make([]byte, MaxMessage+1)
	control := make([]byte, unix.CmsgSpace(unix.SizeofUcred))
	for {
		n, c, _, _, err := s.conn.ReadMsgUnix(text, control)
		if errors.Is(err, net.ErrClosed) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("cannot receive notifications at %s: %w", s.path, err)
		}
		from, ok := sender(control[:c])
		if !ok || from.Uid != s.uid {
			continue
		}
		m := Parse(text[:n])
		if m == (Message{}) {
			continue
		}
		m.Pid = int(from.Pid)
		deliver(m, time.Now())
	}
}

// sender finds the credentials that the kernel added.
func sender(control []byte) (*unix.Ucred, bool) {
	list, err := unix.ParseSocketControlMessage(control)
	if err != nil {
		return nil, false
	}
	for i := range list {
		if cred, err := unix.ParseUnixCredentials(&list[i]); err == nil {
			return cred, true
		}
	}
	return nil, false
}

// Close ends Receive and removes the socket; a second Close does nothing.
func (s *Socket) Close() error {
	err := s.conn.Close()
	if errors.Is(err, net.ErrClosed) {
		return nil
	}
	if gone := os.Remove(s.path); !errors.Is(gone, fs.ErrNotExist) {
		err = errors.Join(err, gone)
	}
	if err != nil {
		return fmt.Errorf("cannot close the notification socket: %w", err)
	}
	return nil
}
