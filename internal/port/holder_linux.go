package port

import (
	"bufio"
	"cmp"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// holders finds the processes with a TCP socket on the port, by the socket's
// inode. It sees this network namespace, and of other users' processes only
// what the caller may look into. A socket that is bound and does not listen is
// in no table of /proc: another reservation stays unseen until a store listens.
func holders(proc string, port int) []Holder {
	links := map[string]bool{}
	for _, table := range []string{"/net/tcp", "/net/tcp6"} {
		f, err := os.Open(proc + table)
		if err != nil {
			continue
		}
		for _, inode := range socketInodes(f, port) {
			links["socket:["+inode+"]"] = true
		}
		f.Close()
	}
	if len(links) == 0 {
		return nil
	}
	var found []Holder
	dirs, _ := filepath.Glob(proc + "/[0-9]*")
	for _, dir := range dirs {
		pid, err := strconv.Atoi(filepath.Base(dir))
		if err != nil || !hasLink(dir+"/fd", links) {
			continue
		}
		cmdline, _ := os.ReadFile(dir + "/cmdline")
		comm, _ := os.ReadFile(dir + "/comm")
		found = append(found, Holder{Pid: pid, Command: command(string(cmdline), string(comm))})
	}
	slices.SortFunc(found, func(a, b Holder) int { return cmp.Compare(a.Pid, b.Pid) })
	return found
}

// socketInodes reads a table in the format of /proc/net/tcp and returns the
// inodes of the sockets whose local port is port. Inode 0 is a connection that
// no process owns any more.
func socketInodes(table io.Reader, port int) []string {
	var inodes []string
	lines := bufio.NewScanner(table)
	for lines.Scan() {
		field := strings.Fields(lines.Text())
		if len(field) < 10 {
			continue
		}
		_, hex, _ := strings.Cut(field[1], ":")
		local, err := strconv.ParseUint(hex, 16, 16)
		inode := field[9]
		if err == nil && int(local) == port && inode != "0" {
			inodes = append(inodes, inode)
		}
	}
	return inodes
}

// hasLink reports whether a descriptor in the directory points to one of the
// links. Processes come and go while we look: errors mean "not this one".
func hasLink(dir string, links map[string]bool) bool {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return false
	}
	for _, entry := range entries {
		target, err := os.Readlink(dir + "/" + entry.Name())
		if err == nil && links[target] {
			return true
		}
	}
	return false
}
