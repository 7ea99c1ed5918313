package oom

import (
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"

	"lenslaunch/internal/cgroup"
)

// files are the names by which a version of control groups tells what we need.
type files struct {
	kills string // the file with the field oom_kill
	limit string
	peak  string
}

var (
	version2 = files{kills: "memory.events", limit: "memory.max", peak: "memory.peak"} // peak: since Linux 5.19
	version1 = files{kills: "memory.oom_control", limit: "memory.limit_in_bytes", peak: "memory.max_usage_in_bytes"}
)

// dir is a directory of the control group file system: root is where "/" is
// found, path is what it is called on this machine.
type dir struct{ root, path string }

func (d dir) read(name string) string {
	text, err := os.ReadFile(filepath.Join(d.root, d.path, name))
	if err != nil {
		return "" // absent: this kernel, or this group, does not tell
	}
	return string(text)
}

func (d dir) field(file, key string) (int64, bool) { return cgroup.Field(d.read(file), key) }

// number reads a file that holds one number; false for "max" and nonsense.
func (d dir) number(file string) (int64, bool) {
	n, err := strconv.ParseInt(strings.TrimSpace(d.read(file)), 10, 64)
	return n, err == nil
}

// limitOf is a group's limit in bytes, 0 for none. Version 1 writes none as the
// largest number of pages, near 2^63.
func (f files) limitOf(d dir) int64 {
	n, ok := d.number(f.limit)
	if !ok || n <= 0 || n >= 1<<62 {
		return 0
	}
	return n
}

// peakOf is the most that a group has used in bytes, 0 for unknown.
func (f files) peakOf(d dir) int64 {
	n, _ := d.number(f.peak)
	return max(n, 0)
}

// hit reports whether a group's limit has been hit since the start. Version 2
// counts that. Version 1 has memory.failcnt, which does not grow on every kernel
// (it stays 0 on a 6.18 that was tried); there the peak must have come near the
// limit. What the kernel does not tell counts as hit.
func (f files) hit(l level, limit int64) bool {
	if now, ok := l.field(f.kills, "oom"); ok && l.known {
		return now > l.hits
	}
	peak := f.peakOf(l.dir)
	return peak == 0 || peak >= limit-limit/16
}

// level is a memory group at or above ours, and its counters at the start.
type level struct {
	dir
	kills int64
	hits  int64 // how often its limit was hit
	known bool  // hits is known: version 2 only
}

// levels goes from our own group up to what is mounted and returns the groups that
// count kills, the nearest first.
func levels(root string, f files, place cgroup.Place) []level {
	var out []level
	for at := place.Dir; ; at = path.Dir(at) {
		l := level{dir: dir{root: root, path: at}}
		if kills, ok := l.field(f.kills, "oom_kill"); ok {
			l.kills = kills
			l.hits, l.known = l.field(f.kills, "oom")
			out = append(out, l)
		}
		if at == place.Top || at == "/" {
			return out
		}
	}
}
