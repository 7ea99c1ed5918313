package doctor

import (
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

func kernelRelease() string {
	var u unix.Utsname
	if unix.Uname(&u) != nil {
		return ""
	}
	return unix.ByteSliceToString(u.Release[:])
}

// capacityOf is the size of a file system.
func capacityOf(dir string) (bytes uint64, known bool) {
	var s unix.Statfs_t
	if unix.Statfs(dir, &s) != nil {
		return 0, false
	}
	return s.Blocks * uint64(s.Bsize), true
}

// freeIn is what an ordinary user may still write in a directory, and what kind of file
// system it is.
func freeIn(dir string) (bytes uint64, kind string, known bool) {
	var s unix.Statfs_t
	if unix.Statfs(dir, &s) != nil {
		return 0, "", false
	}
	kinds := map[int64]string{
		unix.NFS_SUPER_MAGIC: "NFS", unix.TMPFS_MAGIC: "tmpfs", unix.EXT4_SUPER_MAGIC: "ext4", unix.XFS_SUPER_MAGIC: "xfs",
		unix.BTRFS_SUPER_MAGIC: "btrfs", unix.OVERLAYFS_SUPER_MAGIC: "overlay", unix.FUSE_SUPER_MAGIC: "fuse",
		0x0bd00bd0: "Lustre", 0x47504653: "GPFS", 0x19830326: "BeeGFS", 0xff534d42: "CIFS",
	}
	kind, named := kinds[s.Type&0xffffffff]
	if !named {
		kind = fmt.Sprintf("type %#x", s.Type)
	}
	return s.Bavail * uint64(s.Bsize), kind, true
}

// synchronised reports whether the kernel's clock is held by a time service, and how far
// off it may be.
func synchronised() (ok bool, off time.Duration, known bool) {
	var t unix.Timex
	state, err := unix.Adjtimex(&t)
	if err != nil {
		return false, 0, false
	}
	const timeError = 5 // TIME_ERROR of adjtimex(2): not synchronised
	return state != timeError && t.Status&unix.STA_UNSYNC == 0, time.Duration(t.Maxerror) * time.Microsecond, true
}

// lockable reports whether a file can be locked: the ledger needs it.
func lockable(fd uintptr) error { return unix.Flock(int(fd), unix.LOCK_EX|unix.LOCK_NB) }
