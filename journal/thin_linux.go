package journal

import (
	"bytes"
	"os"

	"golang.org/x/sys/unix"
)

// thin gives back the room of what a buried journal does not hold, for as long as it has
// to wait for an exporter: a collector that is away must not fill a disk, where ranks die
// again and again. It only saves room, so what goes wrong is no error. A journal that a
// process has mapped still stays whole: it would have to be given the room again, where
// there may be none.
func thin(f *os.File) {
	fd := int(f.Fd())
	if unix.Flock(fd, unix.LOCK_EX|unix.LOCK_NB) != nil {
		return
	}
	defer func() { _ = unix.Flock(fd, unix.LOCK_UN) }()
	page := make([]byte, pageSize)
	for at := int64(pageSize); ; at += pageSize { // the first one has the death in it
		if n, _ := f.ReadAt(page, at); n < len(page) {
			return // the end of the file
		}
		if !unused(page, at >= offSlot) {
			continue
		}
		if unix.Fallocate(fd, unix.FALLOC_FL_PUNCH_HOLE|unix.FALLOC_FL_KEEP_SIZE, at, pageSize) != nil {
			return
		}
	}
}

const pageSize = 4096

// unused reports whether a page says the same if it is all zeros.
func unused(page []byte, slots bool) bool {
	if !slots {
		return bytes.Count(page, []byte{0}) == len(page)
	}
	for at := 0; at < len(page); at += slotSize {
		if le.Uint64(page[at:])&stateMask != stateFree {
			return false
		}
	}
	return true
}
