package cgroup

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
)

// Place is our own group in one mounted hierarchy.
type Place struct {
	Dir      string // the directory of our own group
	Top      string // the mount point: Dir itself or above it; nothing higher can be seen
	ReadOnly bool
}

// Places finds our own group from the texts of /proc/self/mountinfo and
// /proc/self/cgroup. controller "" asks for version 2, else for the version 1
// hierarchy of that controller. The hierarchy may be mounted more than once: the
// newest mount comes first, since it may cover an older one. Without any place
// the error says why in one line.
func Places(mountinfo, membership, controller string) ([]Place, error) {
	wanted := "version 2 hierarchy"
	if controller != "" {
		wanted = "version 1 hierarchy with " + controller
	}
	mounts := slices.DeleteFunc(ParseMounts(mountinfo), func(m Mount) bool {
		return !m.carries(controller)
	})
	if len(mounts) == 0 {
		return nil, fmt.Errorf("no %s is mounted", wanted)
	}
	group, err := ownGroup(membership, controller)
	if err != nil {
		return nil, fmt.Errorf("the %s at %s: %w", wanted, mounts[0].Point, err)
	}
	var out []Place
	for _, m := range slices.Backward(mounts) {
		if rest, ok := below(m.Root, group); ok {
			out = append(out, Place{Dir: path.Join(m.Point, rest), Top: path.Clean(m.Point), ReadOnly: m.ReadOnly})
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("our group %s is not in what is mounted at %s (%s)", group, mounts[0].Point, mounts[0].Root)
	}
	return out, nil
}

// carries reports whether the mount is the hierarchy of a controller ("": version 2).
func (m Mount) carries(controller string) bool {
	if controller == "" {
		return m.Version == 2
	}
	return m.Version == 1 && has(m.Options, controller)
}

// ownGroup picks a path out of /proc/self/cgroup, whose lines read
// hierarchy:controllers:path; version 2 is hierarchy 0 without controllers.
func ownGroup(membership, controller string) (string, error) {
	for line := range strings.Lines(membership) {
		// The path may hold colons of its own.
		parts := strings.SplitN(strings.TrimSuffix(line, "\n"), ":", 3)
		if len(parts) != 3 || !strings.HasPrefix(parts[2], "/") {
			continue
		}
		if controller == "" && (parts[0] != "0" || parts[1] != "") {
			continue
		}
		if controller != "" && !has(strings.Split(parts[1], ","), controller) {
			continue
		}
		// The kernel's mark of a group that was removed around a dying process.
		if group, gone := strings.CutSuffix(parts[2], " (deleted)"); gone {
			return "", fmt.Errorf("our group %s was removed", group)
		}
		return parts[2], nil
	}
	return "", errors.New("this process has no group in it")
}

// below gives the path from the group that is mounted (root) to another one, if
// that lies in the mount. Both are seen from our cgroup namespace and may begin
// with "..": names above the namespace's root are not told, so such a path can
// only be followed where both have the same part of it.
func below(root, group string) (string, bool) {
	r, g := parts(root), parts(group)
	if len(g) < len(r) || !slices.Equal(r, g[:len(r)]) || has(g[len(r):], "..") {
		return "", false
	}
	return path.Join(g[len(r):]...), true
}

// parts splits a path into its names.
func parts(p string) []string {
	return slices.DeleteFunc(strings.Split(p, "/"), func(s string) bool { return s == "" || s == "." })
}
