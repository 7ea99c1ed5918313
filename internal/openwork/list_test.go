package openwork

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"lenslaunch/journal"
)

func TestList(t *testing.T) {
	dir := t.TempDir()
	if got, err := List(dir); err != nil || got != nil {
		t.Errorf("without journals: %v, %v", got, err)
	}
	for _, name := range []string{
		"attempt-10/rank-0.spans", "attempt-2/rank-11.spans", "attempt-2/rank-2.spans", "launcher/4711-abc.spans", "attempt-2-st1/rank-0.spans",
		"lock", "attempt-2/rank-1.spans.tmp", "attempt-2/notes.txt", "attempt-2/rank-x.spans", "attempt-2/rank--1.spans", "attempt-2/4711-abc.spans",
	} {
		path := journal.Path(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, nil, 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	// Neither an empty directory nor a link to one elsewhere holds journals.
	if err := errors.Join(os.Mkdir(journal.Path(dir, "attempt-3"), 0o700), os.Symlink("attempt-2", journal.Path(dir, "attempt-4"))); err != nil {
		t.Fatal(err)
	}
	got, err := List(dir)
	if err != nil {
		t.Fatal(err)
	}
	want := []Entry{
		{Group: "attempt-2", Rank: 2, Path: journal.Path(dir, "attempt-2/rank-2.spans")},
		{Group: "attempt-2", Rank: 11, Path: journal.Path(dir, "attempt-2/rank-11.spans")},
		{Group: "attempt-10", Rank: 0, Path: journal.Path(dir, "attempt-10/rank-0.spans")},
		{Group: "attempt-2-st1", Rank: 0, Path: journal.Path(dir, "attempt-2-st1/rank-0.spans")},
		{Group: "launcher", Path: journal.Path(dir, "launcher/4711-abc.spans")},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if who := []string{got[1].Who(), got[4].Who()}; !cmp.Equal(who, []string{"rank 11", "the launcher"}) {
		t.Errorf("who: %q", who)
	}
}

func TestListRefuses(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(journal.Folder(dir), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := List(dir); err == nil {
		t.Errorf("a file in place of the folder: %v", got)
	}
}

// The names that package journal gives are understood.
func TestEntryOfEveryName(t *testing.T) {
	for _, rank := range []int{0, 7, 1<<31 - 1} {
		group, file := filepath.Split(journal.RankName("attempt-3", rank))
		if e, ok := entry(filepath.Clean(group), file); !ok || e.Rank != rank || e.Group != "attempt-3" {
			t.Errorf("rank %d: %+v, %v", rank, e, ok)
		}
	}
	group, file := filepath.Split(journal.LauncherName(4711, time.Unix(1, 2)))
	if e, ok := entry(filepath.Clean(group), file); !ok || e.Group != journal.LauncherGroup {
		t.Errorf("launcher: %+v, %v", e, ok)
	}
}

func FuzzEntry(f *testing.F) {
	for _, seed := range [][2]string{{"attempt-0", "rank-0.spans"}, {"launcher", "1-a.spans"}, {"attempt-1", "rank-99999999999999999999.spans"}, {"", ".spans"}} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, group, file string) {
		e, ok := entry(group, file)
		if !ok {
			return
		}
		if filepath.Ext(file) != ".spans" || e.Group != group || e.Rank < 0 || e.compare(e) != 0 {
			t.Fatalf("%q, %q: %+v", group, file, e)
		}
		if group != journal.LauncherGroup {
			if again, ok := entry(group, "rank-"+strconv.Itoa(e.Rank)+".spans"); !ok || again != e {
				t.Fatalf("%q, %q: %+v, then %+v", group, file, e, again)
			}
		}
	})
}
