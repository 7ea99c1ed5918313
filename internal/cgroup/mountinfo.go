package cgroup

import "strings"

// Mount is one place where a control group hierarchy is mounted.
type Mount struct {
	Version  int      // 1 or 2
	Root     string   // which group of the hierarchy is mounted, seen from our cgroup namespace ("/../x": outside of it)
	Point    string   // the directory it is mounted on
	ReadOnly bool     // the mount or the file system behind it
	Options  []string // of the file system; version 1 names its controllers here
}

// ParseMounts picks the control group hierarchies out of a /proc/<pid>/mountinfo,
// in its order: a later mount may cover an earlier one. Lines that do not follow
// proc_pid_mountinfo(5) are skipped.
func ParseMounts(mountinfo string) []Mount {
	var out []Mount
	for line := range strings.Lines(mountinfo) {
		if m, ok := parseMount(strings.TrimSuffix(line, "\n")); ok {
			out = append(out, m)
		}
	}
	return out
}

// parseMount reads one line:
//
//	36 35 98:0 /root /point rw,noatime master:1 - cgroup2 source rw,nsdelegate
//
// The number of fields before the lone hyphen varies. Fields may be empty (the
// source), so the line is split at single blanks; blanks inside are escaped.
func parseMount(line string) (Mount, bool) {
	left, right, ok := strings.Cut(line, " - ")
	before, after := strings.Split(left, " "), strings.Split(right, " ")
	if !ok || len(before) < 6 || len(after) < 3 {
		return Mount{}, false
	}
	m := Mount{Root: unescape(before[3]), Point: unescape(before[4]), Options: strings.Split(after[2], ",")}
	switch after[0] {
	case "cgroup":
		m.Version = 1
	case "cgroup2":
		m.Version = 2
	default:
		return Mount{}, false
	}
	if !strings.HasPrefix(m.Root, "/") || !strings.HasPrefix(m.Point, "/") {
		return Mount{}, false
	}
	m.ReadOnly = has(strings.Split(before[5], ","), "ro") || has(m.Options, "ro")
	return m, true
}

// unescape undoes the kernel's \ooo for blank, tab, newline and backslash. A
// backslash that starts no such escape stays.
func unescape(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+3 < len(s) && s[i+1] <= '3' && octal(s[i+1]) && octal(s[i+2]) && octal(s[i+3]) {
			b.WriteByte((s[i+1]-'0')<<6 | (s[i+2]-'0')<<3 | (s[i+3] - '0'))
			i += 3
			continue
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

func octal(c byte) bool { return '0' <= c && c <= '7' }

func has(list []string, word string) bool {
	for _, w := range list {
		if w == word {
			return true
		}
	}
	return false
}
