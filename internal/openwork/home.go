package openwork

import (
	"encoding/json"
	"errors"
	"fmt"
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

	own   string // path of the launcher's own journal
	asked string // where they should have been
}

// Place is where a launcher would like to have its journals.
type Place struct {
	Dir  string            // where the run keeps its files; empty: nowhere
	Env  map[string]string // for where else
	Node int               // the launcher's
	Run  string            // its id
	Own  int               // spans that the launcher may have open at the same time
}

// Settle finds a home: the run's directory if that is on a local file system, else a new
// one below $XDG_RUNTIME_DIR or the temp directory, of which a file in the run's directory
// then tells. The error says why there are no journals.
func Settle(p Place) (*Home, error) {
	if p.Dir != "" {
		h, err := p.settle(p.Dir)
		if !errors.Is(err, journal.ErrFileSystem) {
			return h, err
		}
	}
	h, err := p.elsewhere()
	if err == nil && p.Dir != "" {
		h.Moved, h.asked = true, p.Dir
		err = writePointer(p.Dir, h.Dir)
	}
	return h, err
}

// elsewhere tries the directories of the user's session and for everything.
func (p Place) elsewhere() (*Home, error) {
	var problems error
	for _, base := range []string{p.Env["XDG_RUNTIME_DIR"], p.Env["TMPDIR"], os.TempDir()} {
		if base == "" {
			continue
		}
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
	h := &Home{Dir: dir}
	var err error
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
	if h.Moved && !left {
		_ = os.Remove(filepath.Join(h.asked, pointerName))
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
	// What else lies there is not ours, and keeps the directory.
	_ = os.Remove(filepath.Join(journal.Folder(dir), lockName))
	_ = os.Remove(journal.Folder(dir))
	if strings.HasPrefix(filepath.Base(dir), homePrefix) {
		_ = os.Remove(dir)
	}
	return true
}

// pointerName is the file that says where the journals of a run are, if not beside it.
const pointerName = "journal-at.json"

type pointer struct {
	Host string `json:"host"`
	Dir  string `json:"dir"`
}

func writePointer(dir, home string) error {
	host, _ := os.Hostname()
	text, err := json.Marshal(pointer{Host: host, Dir: home})
	if err != nil {
		return err
	}
	// A link there would lead elsewhere.
	path := filepath.Join(dir, pointerName)
	if err := os.Remove(path); err != nil && !os.IsNotExist(err) {
		return fmt.Errorf("cannot say where the journals are: %w", err)
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fmt.Errorf("cannot say where the journals are: %w", err)
	}
	_, err = f.Write(append(text, '\n'))
	return errors.Join(err, f.Close())
}

// maxPointer bounds what is read of it, in bytes.
const maxPointer = 8 << 10

// Homes are the directories in which the journals of a run lie: its own, those of its
// nodes, and where they were moved to. The error says that they are on another machine.
func Homes(dir string) ([]string, error) {
	places := []string{dir}
	nodes, _ := filepath.Glob(filepath.Join(dir, "node-*"))
	places = append(places, nodes...)
	var homes []string
	for _, place := range places {
		home, err := follow(place)
		if err != nil {
			return nil, err
		}
		homes = append(homes, home)
	}
	return homes, nil
}

// follow is where the journals of a place are.
func follow(dir string) (string, error) {
	f, err := os.Open(filepath.Join(dir, pointerName))
	if err != nil {
		return dir, nil // there is none
	}
	defer f.Close()
	text := make([]byte, maxPointer)
	n, _ := f.Read(text)
	var p pointer
	if json.Unmarshal(text[:n], &p) != nil || !filepath.IsAbs(p.Dir) {
		return dir, nil
	}
	if host, _ := os.Hostname(); p.Host != host {
		return "", fmt.Errorf("the journals of this run are on host %s, in %s: look there", p.Host, p.Dir)
	}
	return p.Dir, nil
}
