package notify

import (
	"fmt"
	"os"
	"syscall"
)

// checkDirectory says why sockets in a directory would not be this user's alone.
func checkDirectory(dir string) error {
	info, err := os.Lstat(dir) // not Stat: a link could be turned elsewhere later
	switch {
	case err != nil:
		return err
	case !info.IsDir():
		return fmt.Errorf("%s is no directory", dir)
	case info.Mode().Perm()&0o077 != 0:
		return fmt.Errorf("other users can enter %s (mode %04o)", dir, info.Mode().Perm())
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok || int(stat.Uid) != os.Geteuid() {
		return fmt.Errorf("%s belongs to another user", dir)
	}
	return nil
}
