//go:build terminal && linux

package terminal

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"lenslaunch/test/harness"
)

// process is what /proc says of one.
type process struct {
	pid, group int
	name       string
	state      byte
	rank       string // empty: it is no rank's
}

// processes lists those of the session.
func (s *session) processes() []process {
	s.Helper()
	paths, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil {
		s.Fatal(err)
	}
	var list []process
	for _, path := range paths {
		environ, err := os.ReadFile(path)
		if err != nil {
			continue // it has ended meanwhile
		}
		entries := strings.Split(string(environ), "\x00")
		p, ok := readProcess(filepath.Dir(path))
		if !ok || !slices.Contains(entries, harness.Marked(s.marker)) {
			continue
		}
		for _, entry := range entries {
			if rank, ok := strings.CutPrefix(entry, "RANK="); ok {
				p.rank = rank
			}
		}
		list = append(list, p)
	}
	return list
}

func readProcess(dir string) (process, bool) {
	text, err := os.ReadFile(filepath.Join(dir, "stat"))
	if err != nil {
		return process{}, false
	}
	open, end := bytes.IndexByte(text, '('), bytes.LastIndexByte(text, ')')
	fields := strings.Fields(string(text[end+1:]))
	p := process{name: string(text[open+1 : end]), state: fields[0][0]}
	p.pid, _ = strconv.Atoi(filepath.Base(dir))
	p.group, _ = strconv.Atoi(fields[2])
	return p, true
}

// launcher is the session's launcher, which may be about to begin.
func (s *session) launcher() (pid int) {
	s.Helper()
	s.until("there is a launcher", func() bool {
		list := s.launchers()
		if len(list) > 0 {
			pid = list[0]
		}
		return len(list) > 0
	})
	return pid
}

func (s *session) launchers() []int {
	s.Helper()
	var pids []int
	for _, p := range s.processes() {
		if p.name == "lenslaunch" && p.rank == "" {
			pids = append(pids, p.pid)
		}
	}
	return pids
}

// rank is the process of a rank.
func (s *session) rank(n int) int {
	s.Helper()
	for _, p := range s.processes() {
		if p.rank == strconv.Itoa(n) && p.group == p.pid {
			return p.pid
		}
	}
	s.Fatalf("there is no rank %d", n)
	return 0
}

// job lists launcher and ranks.
func (s *session) job(ranks int) []int {
	s.Helper()
	list := []int{s.launcher()}
	for n := range ranks {
		list = append(list, s.rank(n))
	}
	return list
}

func (s *session) signal(pid int, sig unix.Signal) {
	s.Helper()
	if err := unix.Kill(pid, sig); err != nil {
		s.Fatalf("cannot send %v to %d: %v", sig, pid, err)
	}
}

// threads reads the state of a process, and whether all its threads are stopped: only
// then its parent is told.
func threads(pid int) (p process, stopped, ok bool) {
	p, ok = readProcess("/proc/" + strconv.Itoa(pid))
	dirs, _ := filepath.Glob("/proc/" + strconv.Itoa(pid) + "/task/[0-9]*")
	for _, dir := range dirs {
		if one, there := readProcess(dir); there && one.state != 'T' {
			return p, false, ok
		}
	}
	return p, true, ok
}

// look is how often a state is looked up of which the kernel tells nobody, or only the
// parent of a process.
const look = 10 * time.Millisecond

// until waits for such a state.
func (s *session) until(what string, reached func() bool) {
	s.Helper()
	ticker := time.NewTicker(look)
	defer ticker.Stop()
	for !reached() {
		select {
		case <-ticker.C:
		case <-s.ctx.Done():
			s.Fatalf("waited in vain until %s", what)
		}
	}
}

// stopped waits until processes are stopped, or not stopped any more.
func (s *session) stopped(want bool, pids ...int) {
	s.Helper()
	for _, pid := range pids {
		s.until(fmt.Sprintf("process %d is stopped: %v", pid, want), func() bool {
			p, all, ok := threads(pid)
			if !ok || p.state == 'Z' {
				s.Fatalf("process %d has ended", pid)
			}
			return all == want
		})
	}
}

// awaitEnd waits for the end of a process that needs not be a child.
func (s *session) awaitEnd(ctx context.Context, pid int) {
	s.Helper()
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return // it has ended
	}
	defer unix.Close(fd)
	if err := poll(ctx, fd); err != nil {
		s.Errorf("process %d does not end: %v", pid, err)
	}
}

// poll waits until a descriptor is readable or ctx is over.
func poll(ctx context.Context, fd int) error {
	deadline, ok := ctx.Deadline()
	if !ok {
		return fmt.Errorf("a wait without a bound")
	}
	set := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
	for {
		n, err := unix.Poll(set, int(max(0, time.Until(deadline).Milliseconds())))
		switch {
		case n > 0:
			return nil
		case err != nil && !errors.Is(err, unix.EINTR):
			return err
		case ctx.Err() != nil || n == 0 && err == nil:
			return context.DeadlineExceeded
		}
	}
}
