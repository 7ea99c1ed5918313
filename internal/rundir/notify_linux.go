package rundir

import (
	"os"

	"golang.org/x/sys/unix"
)

// notifier is an inotify instance.
type notifier struct{ file *os.File }

func newNotifier() (*notifier, error) {
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	if err != nil {
		return nil, err
	}
	// Not blocking, so that Close ends a Read.
	return &notifier{os.NewFile(uintptr(fd), "inotify")}, nil
}

func (n *notifier) add(dir string) {
	const changes = unix.IN_MODIFY | unix.IN_CREATE | unix.IN_MOVED_TO | unix.IN_DELETE | unix.IN_ONLYDIR
	conn, err := n.file.SyscallConn() // Fd would make it block
	if err != nil {
		return
	}
	_ = conn.Control(func(fd uintptr) { _, _ = unix.InotifyAddWatch(int(fd), dir, changes) })
}

// run tells of changes until close. What has changed does not matter: whoever asks
// looks at everything.
func (n *notifier) run(tell func()) {
	buf := make([]byte, 4096)
	for {
		if _, err := n.file.Read(buf); err != nil {
			return
		}
		tell()
	}
}

func (n *notifier) close() { n.file.Close() }
