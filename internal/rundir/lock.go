package rundir

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// lockName is the file that is locked. It is never removed: whoever comes next would
// lock another one.
const lockName = "run.lock"

// A launcher shows life at its lock file while it runs, for those who cannot ask
// for its process: readers on other machines, and launchers on a file system
// without flock.
const (
	beatEvery = 20 * time.Second
	deadAfter = 3 * time.Minute // network file systems show a time up to a minute late
)

// HeldError says that another launcher writes to the directory.
type HeldError struct {
	Dir  string
	Pid  int    // 0: not known
	Host string // empty: not known

	// Without flock, and from another machine, only its silence tells that a launcher
	// is gone.
	File   string        // what stands for the lock; empty: a lock that ends with its process
	Silent time.Duration // since it last showed life
}

func (e *HeldError) Error() string {
	who := "another launcher"
	if e.Pid != 0 {
		who = fmt.Sprintf("the launcher with pid %d on host %s", e.Pid, e.Host)
	}
	text := fmt.Sprintf("cannot use run directory %s: %s holds it: let it end, or give another directory", e.Dir, who)
	if e.File != "" {
		text += fmt.Sprintf(" (it showed life %v ago and counts as dead after %v; if you know that it is gone, remove %s)",
			e.Silent.Round(time.Second), deadAfter, e.File)
	}
	return text
}

// holder is what the lock file says.
type holder struct {
	Launcher
	Since time.Time `json:"since"`
}

// maxHolder bounds what is read of a lock file, in bytes.
const maxHolder = 4 << 10

func readHolder(f *os.File) (h holder, ok bool) {
	text, err := io.ReadAll(io.NewSectionReader(f, 0, maxHolder))
	if err != nil || json.Unmarshal(text, &h) != nil {
		return holder{}, false // just being written
	}
	return h, h.Pid > 0
}

func (h holder) write(f *os.File) error {
	text, err := encodeLine(h)
	if err != nil {
		return err
	}
	if _, err := f.WriteAt(text, 0); err != nil {
		return err
	}
	return f.Truncate(int64(len(text)))
}

// lock is a directory that is ours.
type lock struct {
	dir     folder
	file    *os.File
	name    string
	release func()
	stop    chan struct{}
	stopped chan struct{}
}

// acquire takes the lock of a directory, or says who has it. It does not wait.
func acquire(dir folder, me holder, sys system) (*lock, error) {
	for {
		f, err := dir.openOrCreate(lockName, unix.O_RDWR)
		if err != nil {
			return nil, err
		}
		err = sys.flock(f, unix.LOCK_EX|unix.LOCK_NB)
		switch {
		case errors.Is(err, unix.EWOULDBLOCK):
			defer f.Close()
			return nil, held(dir, f)
		case unsupported(err):
			f.Close()
			return acquireFile(dir, me, sys)
		case err != nil:
			f.Close()
			return nil, fmt.Errorf("%s: %w", f.Name(), err)
		case dir.named(lockName, f):
			// Who has the lock is for messages: no room for it is no reason to stop.
			_ = me.write(f)
			return newLock(dir, f, lockName, func() {
				_ = f.Truncate(0)
				// A child forked in this moment has a copy until it executes its program.
				_ = sys.flock(f, unix.LOCK_UN)
			}), nil
		}
		f.Close() // the name stands for another file by now: again
	}
}

// unsupported reports whether an error says that there is no flock here: NFS without
// a lock daemon, Lustre without -o flock, some FUSE file systems.
func unsupported(err error) bool {
	return errors.Is(err, unix.ENOLCK) || errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.ENOTSUP) ||
		errors.Is(err, unix.EOPNOTSUPP) || errors.Is(err, unix.EINVAL)
}

func held(dir folder, f *os.File) *HeldError {
	h, _ := readHolder(f)
	if h.State() == OutcomeUnknown {
		h = holder{} // the one before: the new one has not written yet
	}
	return &HeldError{Dir: dir.Name(), Pid: h.Pid, Host: h.Host}
}
