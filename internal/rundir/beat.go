package rundir

import (
	"os"
	"time"

	"golang.org/x/sys/unix"
)

func newLock(dir folder, f *os.File, name string, release func()) *lock {
	l := &lock{dir: dir, file: f, name: name, release: release, stop: make(chan struct{}), stopped: make(chan struct{})}
	go l.beat()
	return l
}

// beat sets the time of the lock file, by the clock of its server.
func (l *lock) beat() {
	defer close(l.stopped)
	ticker := time.NewTicker(beatEvery)
	defer ticker.Stop()
	for {
		if l.dir.named(l.name, l.file) {
			_ = unix.UtimesNanoAt(l.dir.fd(), l.name, nil, unix.AT_SYMLINK_NOFOLLOW)
		}
		select {
		case <-l.stop:
			return
		case <-ticker.C:
		}
	}
}

// close gives the directory free.
func (l *lock) close() {
	close(l.stop)
	<-l.stopped
	l.release()
	l.file.Close()
}
