//go:build faults && linux

package faults

import (
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// plainScene is a job of the test's own user, held together by the launcher's and the
// guard's sweep alone.
func plainScene(t *testing.T) *scene {
	t.Helper()
	return newScene(t, ownTools(t), setting{flags: []string{"--cgroup", "off"}})
}

func mustKind(t *testing.T, name string) kind {
	t.Helper()
	k, err := kindNamed(name)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// hangUp is what the end of a login does: SIGHUP to all that is in its session, the
// ranks before the launcher.
func (s *scene) hangUp() {
	s.Helper()
	home := s.launcher.Process.Pid
	alive, _ := s.found(false)
	for _, p := range alive {
		if sessionOf(p.pid) == home {
			_ = syscall.Kill(p.pid, syscall.SIGHUP) // one may have ended of another's end
		}
	}
	s.signal(syscall.SIGHUP)
}

// sessionOf is 0 for a process that has gone.
func sessionOf(pid int) int {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return 0
	}
	fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
	session, _ := strconv.Atoi(fields[3])
	return session
}

// pytorch#67538: under nohup training died at logout, because the launcher had taken
// SIGHUP back. It stays ignored, by the launcher and by its ranks, and the job ends
// by itself.
func TestNohup(t *testing.T) {
	s := plainScene(t)
	s.setsid = true
	s.wrap = func(argv []string) []string { return append([]string{"nohup"}, argv...) }
	s.begin(mustKind(t, "plain child"))
	s.hangUp()
	s.ping()
	if alive, _ := s.found(false); len(alive) != 4 {
		t.Errorf("%d of 4 processes have survived SIGHUP: %v", len(alive), alive)
	}
	s.everyRank("exit 0")
	s.requireEnd(0)
}

// A login that ends, as of ssh: its output goes nowhere any more, and everybody in
// the session gets SIGHUP. That is the end of the job, not the failure of a rank that
// would be restarted.
func TestHangUp(t *testing.T) {
	s := plainScene(t)
	s.setsid = true
	s.begin(mustKind(t, "own session"), "--max-restarts", "3", "--restart-delay", "10m", "--restart-delay-max", "10m")
	s.stdout.Close()
	s.hangUp()
	s.requireEnd(129)
}

// A launcher that leads its own session (setsid) shares it with its ranks, and with
// nobody else: the guard ends them all the same when it is killed.
func TestSetsid(t *testing.T) {
	for _, k := range []string{"plain child", "daemon", "fork loop"} {
		t.Run(k, func(t *testing.T) {
			s := plainScene(t)
			s.setsid = true
			s.begin(mustKind(t, k))
			s.signal(syscall.SIGKILL)
			s.wait()
			for _, p := range s.settle(settleLimit) {
				t.Errorf("left: %v", p)
			}
		})
	}
}
