package oom

import (
	"os"
	"path"
	"path/filepath"

	"lenslaunch/internal/cgroup"
)

const vmstat = "/proc/vmstat"

// Watcher remembers the counters at the start of an attempt. It is never changed,
// so it may be asked from several goroutines.
type Watcher struct {
	root    string
	files   files
	levels  []level // at and above our own group, the nearest first; empty: none counts
	machine int64
	known   bool // machine is known
}

// Watch notes the counters. root is the root of the file system, "/" in production.
// It never fails: what the machine does not tell is not watched.
func Watch(root string) *Watcher {
	w := &Watcher{root: root}
	w.machine, w.known = dir{root: root}.field(vmstat, "oom_kill")
	mountinfo, err := os.ReadFile(filepath.Join(root, "proc/self/mountinfo"))
	if err != nil {
		return w
	}
	membership, err := os.ReadFile(filepath.Join(root, "proc/self/cgroup"))
	if err != nil {
		return w
	}
	// A hybrid machine has both; memory is counted by one of them only.
	for _, hierarchy := range []struct {
		controller string
		files      files
	}{{"", version2}, {"memory", version1}} {
		places, err := cgroup.Places(string(mountinfo), string(membership), hierarchy.controller)
		if err != nil {
			continue
		}
		for _, place := range places {
			if found := levels(root, hierarchy.files, place); len(found) > 0 {
				w.files, w.levels = hierarchy.files, found
				return w
			}
		}
	}
	return w
}

// Explain reports whether the kernel has killed for memory since Watch. Ask it
// once a process was seen to have died of SIGKILL: the kernel counts before it
// kills.
func (w *Watcher) Explain() (Kill, bool) {
	if len(w.levels) > 0 {
		nearest := w.levels[0]
		if now, ok := nearest.field(w.files.kills, "oom_kill"); ok && now > nearest.kills {
			k := Kill{Sure: true, Source: path.Join(nearest.path, w.files.kills)}
			k.Limit, k.Peak = w.limit()
			return k, true
		}
	}
	if now, ok := (dir{root: w.root}).field(vmstat, "oom_kill"); ok && w.known && now > w.machine {
		return Kill{Source: vmstat}, true
	}
	return Kill{}, false
}

// limit finds the limit that was hit, and the peak of the same group. If no limit
// in sight was hit, the peak is that of the nearest group.
func (w *Watcher) limit() (limit, peak int64) {
	for _, l := range w.levels {
		if limit := w.files.limitOf(l.dir); limit > 0 && w.files.hit(l, limit) {
			return limit, w.files.peakOf(l.dir)
		}
	}
	return 0, w.files.peakOf(w.levels[0].dir)
}
