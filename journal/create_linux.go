package journal

import (
	"errors"
	"fmt"
	"os"
	"slices"

	"golang.org/x/sys/unix"
)

// overlayMagic is OVERLAYFS_SUPER_MAGIC of linux/magic.h.
const overlayMagic = 0x794c7630

// isLocal tells the file systems that journals are kept on.
func isLocal(kind int64) bool {
	return slices.Contains([]int64{unix.TMPFS_MAGIC, unix.EXT4_SUPER_MAGIC, unix.XFS_SUPER_MAGIC, overlayMagic, unix.BTRFS_SUPER_MAGIC}, kind)
}

func create(dir string, place []string, header []byte, size int) error {
	d, err := openDir(unix.AT_FDCWD, dir, unix.O_DIRECTORY)
	if err != nil {
		return err
	}
	defer func() { d.Close() }()
	var fs unix.Statfs_t
	if err := unix.Fstatfs(int(d.Fd()), &fs); err != nil {
		return fmt.Errorf("its file system: %w", err)
	}
	if !isLocal(int64(uint32(fs.Type))) {
		return ErrFileSystem
	}
	for _, name := range place[:len(place)-1] {
		next, err := makeDir(d, name)
		if err != nil {
			return fmt.Errorf("directory %s: %w", name, err)
		}
		d.Close()
		d = next
	}
	return createFile(d, place[len(place)-1], header, size)
}

func openDir(at int, name string, flags int) (*os.File, error) {
	fd, err := retry(func() (int, error) { return unix.Openat(at, name, unix.O_RDONLY|unix.O_CLOEXEC|flags, 0) })
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), name), nil
}

// makeDir makes a directory, or takes one that is this user's alone.
func makeDir(parent *os.File, name string) (*os.File, error) {
	at := int(parent.Fd())
	switch err := unix.Mkdirat(at, name, 0o700); {
	case errors.Is(err, unix.EEXIST):
	case err != nil:
		return nil, err
	default: // the umask may have taken bits away
		if err := unix.Fchmodat(at, name, 0o700, 0); err != nil {
			return nil, err
		}
	}
	d, err := openDir(at, name, unix.O_DIRECTORY|unix.O_NOFOLLOW)
	if err != nil {
		return nil, err
	}
	if err := private(d, os.Geteuid(), unix.S_IFDIR); err != nil {
		d.Close()
		return nil, err
	}
	return d, nil
}

// createFile leaves a whole file or none.
func createFile(d *os.File, name string, header []byte, size int) error {
	at := int(d.Fd())
	fd, err := retry(func() (int, error) {
		return unix.Openat(at, name, unix.O_RDWR|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0o600)
	})
	if err != nil {
		return err
	}
	f := os.NewFile(uintptr(fd), name)
	err = errors.Join(f.Chmod(0o600), allocate(f, size))
	if err == nil {
		_, err = f.WriteAt(header, 0)
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return errors.Join(err, unix.Unlinkat(at, name, 0))
	}
	return nil
}

// allocate gives the file its space, by writing it where there is no fallocate.
func allocate(f *os.File, size int) error {
	_, err := retry(func() (int, error) { return 0, unix.Fallocate(int(f.Fd()), 0, 0, int64(size)) })
	if errors.Is(err, unix.EOPNOTSUPP) {
		_, err = f.WriteAt(make([]byte, size), 0)
	}
	return err
}

// private refuses what is not of that type, another user's, or open to others.
func private(f *os.File, uid int, kind uint32) error {
	var st unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &st); err != nil {
		return err
	}
	switch {
	case st.Mode&unix.S_IFMT != kind:
		return errors.New("it is of another type")
	case int64(st.Uid) != int64(uid):
		return fmt.Errorf("it belongs to user %d, not to user %d", st.Uid, uid)
	case st.Mode&0o077 != 0:
		return fmt.Errorf("its mode %#o lets others in", st.Mode&0o7777)
	case kind == unix.S_IFREG && st.Nlink > 1:
		return errors.New("it has a second name")
	}
	return nil
}

// openFile opens a journal that must be a plain file of that user's alone. Without
// O_NONBLOCK a pipe of that name would hold the caller.
func openFile(path string, flags, uid int) (*os.File, error) {
	fd, err := retry(func() (int, error) {
		return unix.Open(path, flags|unix.O_NOFOLLOW|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	})
	if errors.Is(err, unix.ELOOP) {
		return nil, errors.New("it is a symbolic link")
	}
	if err != nil {
		return nil, err
	}
	f := os.NewFile(uintptr(fd), path)
	if err := private(f, uid, unix.S_IFREG); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// retry repeats a system call that a signal interrupted.
func retry[T any](call func() (T, error)) (T, error) {
	for {
		v, err := call()
		if !errors.Is(err, unix.EINTR) {
			return v, err
		}
	}
}
