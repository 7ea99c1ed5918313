//go:build faults && linux

package faults

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"lenslaunch/internal/cgroup"
)

// process is what /proc says of a process. It is read here and not by the launcher's
// packages: a fault of theirs must not hide itself.
type process struct {
	pid, parent int
	state       byte
	name        string
	entries     []string // of its environment; a zombie has none
}

func (p process) zombie() bool { return p.state == 'Z' || p.state == 'X' }

func (p process) has(entry string) bool { return slices.Contains(p.entries, entry) }

func (p process) String() string {
	rank := "?"
	for _, entry := range p.entries {
		if value, ok := strings.CutPrefix(entry, "RANK="); ok {
			rank = value
		}
	}
	return fmt.Sprintf("%d (%s, state %c, parent %d, of rank %s)", p.pid, p.name, p.state, p.parent, rank)
}

// processes lists what is there now.
func processes() ([]process, error) {
	names, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		return nil, err
	}
	var list []process
	for _, name := range names {
		// One that ended meanwhile is not there.
		if p, ok := readProcess(filepath.Dir(name)); ok {
			list = append(list, p)
		}
	}
	return list, nil
}

func readProcess(dir string) (process, bool) {
	text, err := os.ReadFile(dir + "/stat")
	if err != nil {
		return process{}, false
	}
	open, end := bytes.IndexByte(text, '('), bytes.LastIndexByte(text, ')')
	fields := strings.Fields(string(text[end+1:]))
	p := process{name: string(text[open+1 : end]), state: fields[0][0]}
	p.pid, _ = strconv.Atoi(filepath.Base(dir))
	p.parent, _ = strconv.Atoi(fields[1])
	environ, err := os.ReadFile(dir + "/environ")
	if err == nil {
		p.entries = strings.Split(strings.TrimRight(string(environ), "\x00"), "\x00")
	}
	return p, true
}

// guards lists the guards of a launcher.
func guards(launcher int) []int {
	list, _ := processes()
	var pids []int
	for _, p := range list {
		line, _ := os.ReadFile("/proc/" + strconv.Itoa(p.pid) + "/cmdline")
		if p.parent == launcher && strings.HasSuffix(string(line), "\x00_guard\x00") {
			pids = append(pids, p.pid)
		}
	}
	return pids
}

// awaitEnd returns when one of the processes has ended or ctx is over.
func awaitEnd(ctx context.Context, pids ...int) error {
	var set []unix.PollFd
	for _, pid := range pids {
		fd, err := unix.PidfdOpen(pid, 0)
		if err != nil {
			return nil // it has ended
		}
		defer unix.Close(fd)
		set = append(set, unix.PollFd{Fd: int32(fd), Events: unix.POLLIN})
	}
	for {
		wait := -1
		if deadline, ok := ctx.Deadline(); ok {
			wait = int(max(0, time.Until(deadline).Milliseconds()))
		}
		n, err := unix.Poll(set, wait)
		switch {
		case err == unix.EINTR:
		case err != nil:
			return err
		case n > 0:
			return nil
		case ctx.Err() != nil || wait == 0:
			return context.DeadlineExceeded
		}
	}
}

// bindable reports whether a port is nobody's: without SO_REUSEADDR, in both families.
func bindable(port int) bool {
	fd, err := unix.Socket(unix.AF_INET6, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		fd, err = unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
		if err != nil {
			return false
		}
		defer unix.Close(fd)
		return unix.Bind(fd, &unix.SockaddrInet4{Port: port}) == nil
	}
	defer unix.Close(fd)
	_ = unix.SetsockoptInt(fd, unix.IPPROTO_IPV6, unix.IPV6_V6ONLY, 0)
	return unix.Bind(fd, &unix.SockaddrInet6{Port: port}) == nil
}

// groupsOf lists the control groups that a launcher has made, wherever version 2 is
// mounted.
func groupsOf(launchers []int) []string {
	mounts, _ := os.ReadFile("/proc/self/mountinfo")
	var found []string
	for line := range strings.Lines(string(mounts)) {
		front, back, ok := strings.Cut(line, " - ")
		if !ok || !strings.HasPrefix(back, "cgroup2 ") {
			continue
		}
		_ = filepath.WalkDir(strings.Fields(front)[4], func(path string, d fs.DirEntry, err error) error {
			if err != nil || !d.IsDir() {
				return nil // it has gone meanwhile, or is a file
			}
			if pid, _, _, ok := cgroup.ParseGroupName(d.Name()); ok && slices.Contains(launchers, pid) {
				found = append(found, path)
			}
			return nil
		})
	}
	return found
}
