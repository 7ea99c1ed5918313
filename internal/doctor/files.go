package doctor

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// little is what a run directory should have at least: output and journals grow.
const little = 1 << 30

// directories looks at where the run would write.
func directories(_ context.Context, s Subject) []Finding {
	temp := cmp.Or(s.Env["TMPDIR"], "/tmp")
	list := temporary(temp)
	missing := len(list) > 0
	for _, place := range []struct{ check, dir, flag string }{{"run directory", s.RunDir, "--log-dir"}, {"ledger", s.StateDir, "--state-dir"}} {
		// Only the last part of the ledger's usual place, below the temp directory, is made.
		lost := missing && strings.HasPrefix(place.dir, temp+"/")
		if place.dir != "" && !lost {
			list = append(list, directory(place.check, place.dir, place.flag)...)
		}
	}
	if s.RunDir == "" && s.StateDir == "" {
		list = append(list, one("run directory", Note, "give --log-dir DIR to keep every rank's output, and what happened", "there is none")...)
	}
	return list
}

// temporary is silent about a temp directory that will do. On clusters TMPDIR often names
// one of the host where the job was submitted; in a pod the image may be read-only.
func temporary(dir string) []Finding {
	err := try(dir)
	if err == nil {
		return nil
	}
	return one("temp directory", Warning, "make it on this node, or set TMPDIR to one that there is: ranks' error files and the ledger lie there where nothing else is said",
		"%s cannot be used: %v", dir, err)
}

// directory tries in the directory, or in the nearest one above it that there is, what a
// run does there: a file, its lock, a rename.
func directory(check, dir, flag string) []Finding {
	there := dir
	for {
		info, err := os.Stat(there)
		if err == nil && !info.IsDir() {
			return one(check, Problem, "give another "+flag, "%s is no directory", there)
		}
		if err == nil {
			break
		}
		up := filepath.Dir(there)
		if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR) || up == there {
			return one(check, Problem, "give a "+flag+" that this user can reach", "%v", err)
		}
		there = up
	}
	if err := try(there); err != nil {
		return one(check, Problem, "give a "+flag+" that this user can write", "%s cannot be used: %v", there, err)
	}
	free, kind, known := freeIn(there)
	switch {
	case !known:
		return one(check, Note, "nothing, if a launch works", "%s can be written; how full it is cannot be told", there)
	case free < little:
		return one(check, Warning, "make room, or use another "+flag, "%s (%s) has %d MiB left", there, kind, free>>20)
	case kind == "tmpfs":
		return one(check, Note, "use a disk if it must outlive the machine", "%s is in memory (tmpfs), %d GiB free", there, free>>30)
	}
	return one(check, Good, "", "%s (%s) can be written, %d GiB free", there, kind, free>>30)
}

// try leaves nothing behind.
func try(dir string) error {
	file, err := os.CreateTemp(dir, ".lenslaunch-doctor-")
	if err != nil {
		return err
	}
	name := file.Name()
	defer os.Remove(name)
	defer file.Close()
	if _, err := file.WriteString("x"); err != nil {
		return err
	}
	if err := lockable(file.Fd()); err != nil && !errors.Is(err, errors.ErrUnsupported) {
		return errors.Join(errors.New("files there cannot be locked"), err)
	}
	renamed := name + "-renamed"
	if err := os.Rename(name, renamed); err != nil {
		return err
	}
	return os.Remove(renamed)
}
