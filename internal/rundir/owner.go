package rundir

import (
	"crypto/rand"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// owner is the user to whom everything of a run must belong: somebody else's file
// could be a trap, and somebody else could change it.
type owner int64

// ownerOf is this user, by the number that the file system of the directory gives it.
// A server that maps users (NFS with root_squash, for root in a container) stores our
// files under another number: then a directory of that number is ours as well.
func ownerOf(d folder) (owner, error) {
	self := owner(os.Geteuid())
	refusal := self.check(d.File)
	if refusal == nil {
		return self, nil
	}
	mapped, err := probe(d)
	if err != nil || mapped == self || mapped.check(d.File) != nil {
		return self, refusal
	}
	return mapped, nil
}

// probe is the owner of a file that we make.
func probe(d folder) (owner, error) {
	name := ".probe-" + rand.Text()
	fd, err := retry(func() (int, error) {
		return unix.Openat(d.fd(), name, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW|unix.O_CLOEXEC, modeFile)
	})
	if err != nil {
		return 0, err
	}
	f := os.NewFile(uintptr(fd), d.path(name))
	defer f.Close()
	defer func() { _ = d.remove(name) }()
	return uid(f)
}

func uid(f *os.File) (owner, error) {
	var stat unix.Stat_t
	err := unix.Fstat(int(f.Fd()), &stat)
	return owner(stat.Uid), err
}

// check refuses what belongs to somebody else.
func (o owner) check(f *os.File) error {
	id, err := uid(f)
	if err != nil {
		return err
	}
	if id != o {
		return fmt.Errorf("%s belongs to user %d, not to user %d: give a directory of your own", f.Name(), id, o)
	}
	return nil
}
