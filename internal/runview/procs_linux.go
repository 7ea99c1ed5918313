package runview

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
)

// readProcesses lists the processes below a /proc. One look for all ranks: that costs
// less than to ask for the children of every thread of every rank.
func readProcesses(root string) ([]process, error) {
	dir, err := os.Open(root)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return nil, err
	}
	var list []process
	for _, name := range names {
		if name[0] < '1' || name[0] > '9' {
			continue
		}
		text, err := os.ReadFile(filepath.Join(root, name, "stat"))
		if err != nil && !errors.Is(err, fs.ErrPermission) {
			continue // it has ended meanwhile
		}
		if p, ok := parseProcess(text); ok {
			list = append(list, p)
		}
	}
	return list, nil
}

// pageSize is the unit of resident memory in /proc.
func pageSize() int64 { return int64(os.Getpagesize()) }

// parseProcess reads a line of /proc/<pid>/stat. The name may hold anything, so the
// fields are counted from the last ')': 0 state, 1 parent, 2 group, 11 and 12 time in
// user and kernel, 19 start, 21 resident pages.
func parseProcess(text []byte) (p process, ok bool) {
	open, end := bytes.IndexByte(text, '('), bytes.LastIndexByte(text, ')')
	if open < 1 || end < open {
		return p, false
	}
	fields := bytes.Fields(text[end+1:])
	if len(fields) < 22 || len(fields[0]) != 1 {
		return p, false
	}
	ok = true
	number := func(text []byte) uint64 {
		n, err := strconv.ParseUint(string(text), 10, 62)
		ok = ok && err == nil
		return n
	}
	p = process{
		pid: int(number(bytes.TrimSpace(text[:open]))), state: fields[0][0], start: number(fields[19]),
		ticks: number(fields[11]) + number(fields[12]),
	}
	// The group is -1 of one outside of our pid namespace in some kernels.
	parent, errParent := strconv.Atoi(string(fields[1]))
	group, errGroup := strconv.Atoi(string(fields[2]))
	pages := number(fields[21])
	p.parent, p.group, p.memory = parent, group, int64(min(pages, 1<<40))*pageSize()
	return p, ok && errParent == nil && errGroup == nil
}
