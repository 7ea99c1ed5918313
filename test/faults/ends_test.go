//go:build faults && linux

package faults

import (
	"context"
	"os/exec"
	"slices"
	"syscall"
	"time"
)

// end is a way in which jobs end: a row of the matrix.
type end struct {
	name   string
	flags  []string
	memory bool   // in a control group with a memory limit
	killed bool   // the launcher does not see the end: something else ends what is left
	swept  bool   // the guard does it
	code   int    // exit code of the launcher that sees it
	says   string // what the launcher must print
	bring  func(*scene, *cell)
}

// ends are the rows, in the order.
func ends() []end {
	return []end{
		{name: "SIGTERM", code: 143, bring: signalled(syscall.SIGTERM)},
		{name: "SIGINT", code: 130, bring: signalled(syscall.SIGINT)},
		{name: "launcher killed", killed: true, swept: true, bring: launcherKilled},
		{name: "guard killed", code: 0, says: "the guard has ended; another one is started", bring: guardKilled},
		{name: "both at once", killed: true, bring: bothKilled},
		{name: "guard, launcher", killed: true, swept: true, bring: guardThenLauncher},
		{name: "launcher, guard", killed: true, swept: true, bring: launcherThenGuard},
		{name: "rank exits", code: 3, says: "rank 1 failed: exit code 3", bring: told("exit 3")},
		{name: "rank segfaults", code: 139, says: "rank 1 failed: SIGSEGV", bring: told("crash")},
		{
			name: "rank OOM-killed", memory: true, code: 137, bring: told("allocate"),
			says: "SIGKILL: killed by the kernel for memory, cgroup limit 96 MiB, peak ",
		},
		{name: "restart", flags: []string{"--max-restarts", "1", "--restart-delay", "0s"}, code: 0, bring: restarted},
		{name: "stdout closed", code: 0, says: "the console has gone", bring: stdoutClosed},
	}
}

func signalled(sig syscall.Signal) func(*scene, *cell) {
	return func(s *scene, _ *cell) {
		s.signal(sig)
		s.wait()
	}
}

// told ends rank 1 in the way that it is told.
func told(command string) func(*scene, *cell) {
	return func(s *scene, _ *cell) {
		s.rank(1).tell(command)
		s.wait()
	}
}

func launcherKilled(s *scene, _ *cell) {
	s.signal(syscall.SIGKILL)
	s.wait()
}

// replaceGuard kills the guard and returns when the launcher has another one.
func (s *scene) replaceGuard() (next int) {
	s.Helper()
	guard := s.guard()
	s.kill(guard)
	return s.guard(guard)
}

func (s *scene) kill(pid int) {
	s.Helper()
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		s.Fatalf("cannot kill %d: %v", pid, err)
	}
}

// guardKilled: the job goes on to its own end.
func guardKilled(s *scene, _ *cell) {
	s.replaceGuard()
	s.everyRank("exit 0")
	s.wait()
}

// bothKilled leaves nobody to end the offspring but the next launcher of the run. The
// launcher stands still meanwhile: it could start another guard between the two.
func bothKilled(s *scene, c *cell) {
	guard := s.guard()
	s.freeze()
	s.kill(guard)
	s.signal(syscall.SIGKILL)
	s.wait()
	ctx, cancel := context.WithTimeout(s.Context(), settleLimit)
	defer cancel()
	for _, l := range s.lives {
		if err := awaitEnd(ctx, l.Pid); err != nil {
			s.Errorf("rank %d outlives its launcher: its parent-death signal is missing", l.Rank)
		}
	}
	alive, _ := s.found(false)
	c.orphans = len(alive)
	s.next()
}

// next starts another launcher of the same run, whose only rank has nothing to do.
func (s *scene) next() {
	s.Helper()
	args := slices.Concat([]string{"--nproc", "1"}, s.run(), s.set.flags, []string{"--", "/bin/true"})
	s.start(s.command(kind{}, nil, args...))
	s.wait()
	if code := exitCode(s.launcher); code != 0 {
		s.Errorf("the next launcher of the run: exit code %d\n%s", code, s.said())
	}
}

func guardThenLauncher(s *scene, _ *cell) {
	s.replaceGuard()
	s.signal(syscall.SIGKILL)
	s.wait()
}

// launcherThenGuard gives the guard the second that it is promised to need.
func launcherThenGuard(s *scene, _ *cell) {
	guard := s.guard()
	s.signal(syscall.SIGKILL)
	s.wait()
	ctx, cancel := context.WithTimeout(s.Context(), time.Second)
	defer cancel()
	for {
		s.reap()
		// The guard comes last: it removes the control group when all are gone.
		alive, _ := s.found(true)
		next := slices.IndexFunc(alive, func(p process) bool { return len(alive) == 1 || p.pid != guard })
		if next < 0 || awaitEnd(ctx, alive[next].pid) != nil {
			break
		}
	}
	_ = syscall.Kill(guard, syscall.SIGKILL) // it may have ended
}

// restarted ends attempt 0, whose processes have to be gone when those of attempt 1
// report; and then attempt 1.
func restarted(s *scene, c *cell) {
	old := slices.Clone(s.lives)
	s.rank(1).tell("exit 3")
	for _, l := range s.arrive(2) {
		if l.Attempt != 1 || l.Port == old[0].Port {
			s.Errorf("rank %d of attempt %d has port %d, which was %d", l.Rank, l.Attempt, l.Port, old[0].Port)
		}
	}
	alive, zombies := s.found(false)
	alive = slices.DeleteFunc(alive, func(p process) bool { return !p.has("LENSLAUNCH_ATTEMPT=0") })
	c.survived(alive)
	for _, l := range old {
		if !l.isGone() && len(alive) == 0 {
			s.Errorf("a process of rank %d of attempt 0 lives, unseen, beside attempt 1", l.Rank)
		}
	}
	c.zombies += len(zombies)
	if !bindable(old[0].Port) {
		c.ports++
	}
	s.everyRank("exit 0")
	s.wait()
}

func stdoutClosed(s *scene, _ *cell) {
	s.stdout.Close()
	s.everyRank("print")
	s.wait()
}

// exitCode is the code that a shell would report.
func exitCode(cmd *exec.Cmd) int {
	state := cmd.ProcessState
	if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return 128 + int(status.Signal())
	}
	return state.ExitCode()
}
