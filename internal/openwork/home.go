package openwork

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"time"

	"lenslaunch/journal"
)

// Home is the directory in which a launcher keeps journals.
type Home struct {
	Dir       string
	Own       *journal.Writer // of the launcher's own spans
	Leftovers []Entry         // what earlier launchers have left
	Moved     bool            // not in the directory of the run: that is on no local file system

	own     string // path of the launcher's own journal
	pointer string // path of the file that says where it is; empty: none
}

// Place is where a launcher would like to have its journals.
type Place struct {
	Dir  string            // where the run keeps its files; empty: nowhere
	Env  map[string]string // for where else
	Node int               // the launcher's
	Run  string            // its id
	Own  int               // spans that the launcher may have open at the same time
}

// Settle finds a home: the run's directory if that is on a local file system, else one
// below $XDG_RUNTIME_DIR or the temp directory, of which a file in the run's directory
// then tells: the one where an earlier launcher of the run was, or a new one. The error
// says why there are no journals.
func Settle(p Place) (*Home, error) {
	if p.Dir == "" {
		return p.elsewhere()
	}
	h, err := p.settle(p.Dir)
	if !errors.Is(err, journal.ErrFileSystem) {
		return h, err
	}
	return p.move()
}

// move finds a home for a run whose directory is no place for journals.
func (p Place) move() (*Home, error) {
	h := p.again()
	if h == nil {
		var err error
		if h, err = p.elsewhere(); err != nil {
			return nil, err
		}
		if err := writePointer(p.Dir, h.Dir); err != nil {
			h.Close()
			return nil, err
		}
	}
	h.Moved, h.pointer = true, filepath.Join(p.Dir, pointerName)
	return h, nil
}

// again is the home that an earlier launcher of the run had elsewhere, with what it has
// left there; nil if there is none that is safe to use.
func (p Place) again() *Home {
	dir, err := follow(p.Dir)
	if err != nil || dir == p.Dir || !private(dir) {
		return nil
	}
	h, err := p.settle(dir)
	if err != nil {
		return nil
	}
	return h
}

// elsewhere tries the directories of the user's session and for everything.
func (p Place) elsewhere() (*Home, error) {
	var problems error
	tried := map[string]bool{"": true}
	// Clusters set TMPDIR to a directory on Lustre: the machine's own is still there.
	for _, base := range []string{p.Env["XDG_RUNTIME_DIR"], p.Env["TMPDIR"], os.TempDir(), "/tmp"} {
		if tried[base] {
			continue
		}
		tried[base] = true
		dir, err := os.MkdirTemp(base, homePrefix)
		if err == nil {
			var h *Home
			if h, err = p.settle(dir); err == nil {
				return h, nil
			}
			_ = os.RemoveAll(dir) // ours, and empty
		}
		problems = errors.Join(problems, err)
	}
	return nil, problems
}

func (p Place) settle(dir string) (*Home, error) {
	dir, err := filepath.Abs(dir) // workers are told, and may be in another directory
	if err != nil {
		return nil, err
	}
	h := &Home{Dir: dir}
	if h.Leftovers, err = List(dir); err != nil {
		return nil, err
	}
	// Twice what the ranks of an attempt and its own parts need.
	slots := min(journal.MaxSlots, max(64, 2*p.Own))
	name := journal.LauncherName(os.Getpid(), time.Now())
	if h.own, err = journal.Create(dir, name, journal.Header{RunID: p.Run, Rank: p.Node, Slots: slots}); err != nil {
		return nil, err
	}
	if h.Own, err = journal.Open(h.own); err != nil {
		return nil, errors.Join(err, Remove(h.own))
	}
	return h, nil
}

// Close removes the launcher's own journal, whose spans have been exported or are told to
// be lost, and a directory that holds nothing any more. It says whether journals stay.
func (h *Home) Close() (left bool) {
	_ = Remove(h.own)
	left = !Tidy(h.Dir)
	if h.pointer != "" && !left {
		_ = os.Remove(h.pointer)
	}
	return left
}

// homePrefix begins the name of a directory that was made for journals alone.
const homePrefix = "lenslaunch-journals-"

// Tidy removes the folder of journals if none is left, and with it a directory that was
// made for them alone. Whoever calls holds its lock. It says whether none is left.
func Tidy(dir string) bool {
	entries, err := List(dir)
	if err != nil || len(entries) > 0 {
		return false
	}
	// A full disk has room for an attempt's directory, and none for its journals.
	groups, _ := os.ReadDir(journal.Folder(dir))
	for _, g := range groups {
		if g.IsDir() {
			_ = os.Remove(filepath.Join(journal.Folder(dir), g.Name()))
		}
	}
	// What else lies there is not ours, and keeps the directory.
	_ = os.Remove(filepath.Join(journal.Folder(dir), lockName))
	_ = os.Remove(journal.Folder(dir))
	if strings.HasPrefix(filepath.Base(dir), homePrefix) {
		_ = os.Remove(dir)
	}
	return true
}
