package proc

import (
	"errors"
	"os/exec"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// startRetrying tries again for a moment when the file is busy: a fork elsewhere
// in this process may hold a just-written executable open (golang/go#22315).
func startRetrying(cmd *exec.Cmd, pause func(time.Duration)) error {
	const tries, most = 20, 5 * time.Millisecond
	for try := 0; ; try++ {
		err := cmd.Start()
		if !errors.Is(err, syscall.ETXTBSY) || try == tries {
			return err
		}
		*cmd = exec.Cmd{
			Path: cmd.Path, Args: cmd.Args, Env: cmd.Env, Dir: cmd.Dir, Stdin: cmd.Stdin, Stdout: cmd.Stdout,
			Stderr: cmd.Stderr, ExtraFiles: cmd.ExtraFiles, SysProcAttr: cmd.SysProcAttr, WaitDelay: cmd.WaitDelay,
		}
		pause(most)
	}
}

// writers tells when a file that is busy may have become free.
type writers struct {
	path string
	fd   int // inotify; 0: not asked yet, -1: there is none
}

// pause returns when somebody who had the file open for writing has closed it, or when
// the time is over: the last one may have closed it before we asked.
func (w *writers) pause(most time.Duration) {
	if w.fd == 0 {
		w.fd = -1
		if fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK); err == nil {
			w.fd = fd
			// Without a watch the time alone ends the pause.
			_, _ = unix.InotifyAddWatch(fd, w.path, unix.IN_CLOSE_WRITE)
		}
	}
	// poll passes over a negative descriptor, and a signal only ends the pause sooner.
	_, _ = unix.Poll([]unix.PollFd{{Fd: int32(w.fd), Events: unix.POLLIN}}, int(most.Milliseconds()))
	var events [4096]byte
	_, _ = unix.Read(w.fd, events[:]) // or the next pause would end at once
}

func (w *writers) close() {
	if w.fd > 0 {
		unix.Close(w.fd)
	}
}
