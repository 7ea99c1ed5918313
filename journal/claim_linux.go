package journal

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// openMapping maps the journal and claims it for this process. The mapping lives as long
// as the process: a span may start at any moment, and the memory must be there then.
func openMapping(path string) ([]byte, error) {
	if binary.NativeEndian.Uint16([]byte{1, 0}) != 1 {
		return nil, errors.New("this machine's byte order is not that of the format")
	}
	f, err := openFile(path, os.O_RDWR, os.Geteuid())
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := mapFile(f)
	if err != nil {
		return nil, err
	}
	if err := claim(f, data); err != nil {
		_ = unix.Munmap(data) // never used
		return nil, err
	}
	return data, nil
}

// mapFile maps a file whose header and size agree: it is then as large as this process
// believes, and no access is beyond its end.
func mapFile(f *os.File) ([]byte, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if info.Size() < offSlot || info.Size() > int64(size(MaxSlots)) {
		return nil, errNoJournal
	}
	data, err := unix.Mmap(int(f.Fd()), 0, int(info.Size()), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return nil, fmt.Errorf("cannot map it: %w", err)
	}
	h, err := decodeHeader(data)
	if err == nil && int64(size(h.Slots)) != info.Size() {
		err = fmt.Errorf("it has %d bytes, with %d slots it should have %d", info.Size(), h.Slots, size(h.Slots))
	}
	if err != nil {
		_ = unix.Munmap(data) // read only once
		return nil, err
	}
	return data, nil
}

// ErrClaimed says that another process writes the journal or has written it.
var ErrClaimed = errors.New("another process writes it")

// claim makes this process the journal's one writer. The lock belongs to the open file,
// which the mapping keeps open, so it is held for life: it keeps a second writer out of
// this very process, and execve, which unmaps, lets the program that takes its place
// have the journal back.
func claim(f *os.File, data []byte) error {
	ticks, err := startTicks()
	if err != nil {
		return err
	}
	mine := func() bool {
		c, ok := decodeClaim(data)
		return !ok || c.PID == os.Getpid() && c.Ticks == ticks
	}
	if !mine() {
		return ErrClaimed
	}
	// Somebody else may hold the lock for an instant only to find that it came late.
	const tries = 20
	for try := 0; ; try++ {
		err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if err == nil {
			break
		}
		if try == tries || !errors.Is(err, unix.EWOULDBLOCK) && !errors.Is(err, unix.EINTR) {
			return fmt.Errorf("%w (%w)", ErrClaimed, err)
		}
		<-time.After(time.Millisecond)
	}
	if !mine() {
		return ErrClaimed
	}
	le.PutUint64(data[offPID:], uint64(os.Getpid()))
	le.PutUint64(data[offTicks:], ticks)
	le.PutUint64(data[offClaimed:], uint64(time.Now().UnixNano()))
	word64(data, offClean).Store(0)
	word64(data, offClaim).Store(claimWord(data))
	return nil
}

// startTicks is when this process started: field 22 of its stat, counted from the end
// of the name, which may hold spaces and parentheses of its own.
func startTicks() (uint64, error) {
	text, err := os.ReadFile("/proc/self/stat")
	if err != nil {
		return 0, err
	}
	fields := bytes.Fields(text[bytes.LastIndexByte(text, ')')+1:])
	if len(fields) < 20 {
		return 0, fmt.Errorf("%d fields in /proc/self/stat", len(fields))
	}
	return strconv.ParseUint(string(fields[19]), 10, 64)
}
