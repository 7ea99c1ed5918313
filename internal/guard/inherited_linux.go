package guard

import (
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// closeInherited closes descriptors that came from whoever started the launcher, such
// as a pipe whose end somebody waits for. Those of this process itself, the Go
// runtime's too, are marked close-on-exec; inherited ones are not.
func closeInherited() {
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return
	}
	for _, e := range entries {
		fd, err := strconv.Atoi(e.Name())
		if err != nil || fd <= pipeFD {
			continue
		}
		if flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0); err == nil && flags&unix.FD_CLOEXEC == 0 {
			_ = unix.Close(fd)
		}
	}
}
