package openwork

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

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

// Site is where the journals of a run, or of one of its nodes, lie.
type Site struct {
	Dir  string // keeps the record
	Home string // has the journals: Dir, or where they were moved to
}

// Tidy is the function of that name, and forgets where the journals had been moved to.
func (s Site) Tidy() {
	if Tidy(s.Home) && s.Home != s.Dir {
		_ = os.Remove(filepath.Join(s.Dir, pointerName)) // it leads nowhere now, which is no harm
	}
}

// Sites are where the journals of a run lie: its own and those of its nodes. The error says
// which are on another machine; the others are returned with it.
func Sites(dir string) ([]Site, error) {
	places := []string{dir}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("cannot look for journals: %w", err)
	}
	for _, e := range entries {
		if e.IsDir() && strings.HasPrefix(e.Name(), "node-") {
			places = append(places, filepath.Join(dir, e.Name()))
		}
	}
	var sites []Site
	var elsewhere error
	for _, place := range places {
		home, err := follow(place)
		if err != nil {
			elsewhere = errors.Join(elsewhere, err)
			continue
		}
		sites = append(sites, Site{Dir: place, Home: home})
	}
	return sites, elsewhere
}

// follow is where the journals of a place are: what is no pointer of ours leads nowhere.
func follow(dir string) (string, error) {
	// Without O_NONBLOCK a pipe of that name would hold the caller.
	f, err := os.OpenFile(filepath.Join(dir, pointerName), os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return dir, nil // there is none
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() || !Ours(info) {
		return dir, nil
	}
	text, _ := io.ReadAll(io.LimitReader(f, maxPointer))
	p, ok := parsePointer(text)
	if !ok {
		return dir, nil
	}
	if host, _ := os.Hostname(); p.Host != host {
		return "", fmt.Errorf("the journals of this run are on host %s, in %s: look there", p.Host, p.Dir)
	}
	return p.Dir, nil
}

// parsePointer reads what writePointer wrote; false for anything else.
func parsePointer(text []byte) (p pointer, ok bool) {
	err := json.Unmarshal(text, &p)
	return p, err == nil && filepath.IsAbs(p.Dir) && !strings.ContainsRune(p.Dir, 0)
}

// private reports whether a directory is this user's alone. In a directory for everybody
// another user may have made one of a name that was ours.
func private(dir string) bool {
	info, err := os.Lstat(dir)
	return err == nil && info.IsDir() && info.Mode().Perm()&0o077 == 0 && Ours(info)
}

// Ours reports whether a file is this user's.
func Ours(info os.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int64(st.Uid) == int64(os.Geteuid())
}
