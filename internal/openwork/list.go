package openwork

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"lenslaunch/journal"
)

// lockName is the file that is locked. It is removed with its directory alone.
const lockName = "lock"

// Entry is a journal that lies in a directory.
type Entry struct {
	Path  string
	Group string // "attempt-2", or journal.LauncherGroup
	Rank  int    // from its name; of a launcher's journal: 0
}

// Who names the process for people.
func (e Entry) Who() string { return who(e.Group, e.Rank) }

// List finds the journals of a directory, in the order of attempts and ranks, the
// launchers' last. No journals is no error.
func List(dir string) ([]Entry, error) {
	groups, err := os.ReadDir(journal.Folder(dir))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("cannot look for journals: %w", err)
	}
	var all []Entry
	for _, g := range groups {
		if !g.IsDir() {
			continue
		}
		files, err := os.ReadDir(filepath.Join(journal.Folder(dir), g.Name()))
		if err != nil && !errors.Is(err, fs.ErrNotExist) { // its last journal may just have gone
			return nil, fmt.Errorf("cannot look for journals: %w", err)
		}
		for _, f := range files {
			if e, ok := entry(g.Name(), f.Name()); ok {
				e.Path = journal.Path(dir, g.Name()+"/"+f.Name())
				all = append(all, e)
			}
		}
	}
	slices.SortStableFunc(all, Entry.compare)
	return all, nil
}

// entry takes the name of a journal apart; false for anything else.
func entry(group, file string) (Entry, bool) {
	name, ok := strings.CutSuffix(file, ".spans")
	if !ok {
		return Entry{}, false
	}
	if group == journal.LauncherGroup {
		return Entry{Group: group}, true
	}
	digits, ok := strings.CutPrefix(name, "rank-")
	rank, err := strconv.Atoi(digits)
	return Entry{Group: group, Rank: rank}, ok && err == nil && rank >= 0
}

func (e Entry) compare(other Entry) int {
	return cmp.Or(
		cmp.Compare(e.order(), other.order()), cmp.Compare(len(e.Group), len(other.Group)),
		cmp.Compare(e.Group, other.Group), cmp.Compare(e.Rank, other.Rank), cmp.Compare(e.Path, other.Path))
}

// order puts launchers behind attempts; shorter names of attempts have lower numbers.
func (e Entry) order() int {
	if e.Group == journal.LauncherGroup {
		return 1
	}
	return 0
}
