//go:build faults && linux

package faults

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"lenslaunch/internal/cgroup"
	"lenslaunch/test/harness"
)

// Bounds, for a busy machine. None of them is waited for where the launcher is right.
const (
	startLimit  = 60 * time.Second // until all ranks have reported
	endLimit    = 25 * time.Second // from the end that the test brings about to the launcher's
	settleLimit = 20 * time.Second // until nothing is left where it was killed
)

// setting is with what means a launcher has to hold its processes together.
type setting struct {
	name    string
	flags   []string
	uid     int           // whose the launcher is, 0: the test's own
	grouped bool          // its ranks are in control groups
	missing string        // why it cannot be tried here; empty: it can
	settle  time.Duration // until nothing is left where the launcher was killed
	unnamed bool          // its job is known by its run directory alone
}

func settings() []setting {
	grouped := setting{name: "cgroup", grouped: true}
	if _, err := cgroup.Find(); err != nil {
		grouped.missing = err.Error()
	}
	plain := setting{name: "not root"}
	if os.Geteuid() == 0 {
		plain.uid = 65534
	}
	list := []setting{grouped, {name: "no cgroup", flags: []string{"--cgroup", "off"}}, plain}
	for i := range list {
		list[i].settle = settleLimit
	}
	return list
}

// tools are programs that every user may run.
type tools struct {
	launcher, helper string
	bystander        int // a process that looks like a rank's and is none
}

// newTools copies the programs out of directories that are their builder's alone.
func newTools(t *testing.T, launcher string) tools {
	t.Helper()
	dir := publicDir(t, 0)
	helper, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return tools{
		launcher: install(t, launcher, filepath.Join(dir, "lenslaunch")), helper: install(t, helper, filepath.Join(dir, "rank")),
	}
}

func install(t *testing.T, from, to string) string {
	t.Helper()
	in, err := os.Open(from)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY, 0o755)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(out, in); err != nil {
		t.Fatal(err)
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
	return to
}

// publicDir is a directory that every user may enter and that belongs to uid (0: to
// the test's).
func publicDir(t *testing.T, uid int) string {
	t.Helper()
	dir := t.TempDir()
	for _, path := range []string{filepath.Dir(dir), dir} {
		if err := os.Chmod(path, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if uid != 0 {
		if err := os.Chown(dir, uid, uid); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// scene is one job under observation.
type scene struct {
	*testing.T
	tools
	set    setting
	dir    string
	marker string
	memory string // control group with a limit that the launcher lives in; empty: none
	ranks  int
	setsid bool                         // the launcher leads a session of its own
	env    []string                     // besides what every launcher gets
	stderr *os.File                     // of the launchers; nil: a file that said reads
	wrap   func(argv []string) []string // puts a program in front of the launcher; nil: none
	hub    *hub

	launcher  *exec.Cmd
	ended     chan struct{} // closed: the launcher has ended
	stdout    *os.File      // before begin, the launcher's own; after it, the reader's end of it
	lives     []*life       // of all attempts, as they came
	launchers []int         // pids of all that were started
}

func newScene(t *testing.T, use tools, set setting) *scene {
	s := &scene{T: t, tools: use, set: set, ranks: 2, dir: publicDir(t, set.uid), marker: harness.NewMarker(), hub: newHub(t)}
	t.Cleanup(s.clean)
	return s
}

func (s *scene) runDir() string { return filepath.Join(s.dir, "run") }

// run names the job, so that the next launcher knows that it is the same.
func (s *scene) run() []string {
	if s.set.unnamed {
		return []string{"--log-dir", s.runDir()}
	}
	return []string{"--run-id", "faults", "--state-dir", filepath.Join(s.dir, "state")}
}

// begin starts a launcher of ranks with offspring and waits for their reports.
func (s *scene) begin(k kind, flags ...string) {
	s.Helper()
	args := slices.Concat([]string{"--nproc", strconv.Itoa(s.ranks), "--stop-timeout", "400ms", "--restart-stop-timeout", "400ms"},
		s.run(), s.set.flags, flags, []string{"--", s.helper})
	if s.stdout != nil {
		s.start(s.command(k, s.stdout, args...))
		s.arrive(s.ranks)
		return
	}
	r, w, err := os.Pipe()
	if err != nil {
		s.Fatal(err)
	}
	s.stdout = r
	s.Cleanup(func() { r.Close() })
	s.start(s.command(k, w, args...))
	w.Close()
	s.arrive(s.ranks)
}

// command prepares a launcher.
func (s *scene) command(k kind, stdout *os.File, args ...string) *exec.Cmd {
	s.Helper()
	argv := append([]string{s.tools.launcher}, args...)
	if s.wrap != nil {
		argv = s.wrap(argv)
	}
	env := append(harness.Environment(s.dir, s.marker), roleVariable+"=rank", hubVariable+"="+s.hub.listener.Addr().String(),
		kindVariable+"="+k.name)
	env = append(env, s.env...)
	// In a group of its own, by default in the session of the test and the bystander.
	attr := &syscall.SysProcAttr{Setpgid: !s.setsid, Setsid: s.setsid}
	switch {
	case s.memory != "":
		argv = append([]string{s.helper}, argv...)
		env = append(env, roleVariable+"=enter", "FAULTS_GROUP="+s.memory)
		if s.set.uid != 0 {
			env = append(env, "FAULTS_UID="+strconv.Itoa(s.set.uid))
		}
	case s.set.uid != 0:
		attr.Credential = &syscall.Credential{Uid: uint32(s.set.uid), Gid: uint32(s.set.uid)}
	}
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Env, cmd.SysProcAttr, cmd.Stdout, cmd.Stderr = env, attr, stdout, s.stderr
	if s.stderr == nil {
		file, err := os.OpenFile(filepath.Join(s.dir, "stderr"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
		if err != nil {
			s.Fatal(err)
		}
		s.Cleanup(func() { file.Close() })
		cmd.Stderr = file
	}
	return cmd
}

func (s *scene) start(cmd *exec.Cmd) {
	s.Helper()
	if err := cmd.Start(); err != nil {
		s.Fatalf("cannot start the launcher: %v", err)
	}
	ended := make(chan struct{})
	go func() {
		_ = cmd.Wait() // the exit code is looked at later
		close(ended)
	}()
	s.launcher, s.ended = cmd, ended
	s.launchers = append(s.launchers, cmd.Process.Pid)
}

// arrive waits for the reports of so many more ranks.
func (s *scene) arrive(n int) []*life {
	s.Helper()
	ctx, cancel := context.WithTimeout(s.Context(), startLimit)
	defer cancel()
	from := len(s.lives)
	for range n {
		select {
		case l := <-s.hub.arrivals:
			s.lives = append(s.lives, l)
		case <-s.ended:
			s.Fatalf("the launcher ended before its ranks were in place:\n%s", s.said())
		case <-ctx.Done():
			s.Fatalf("the ranks are not in place after %v:\n%s", startLimit, s.said())
		}
	}
	for _, l := range s.lives[from:] {
		if grouped := groupOf(l.report); grouped != s.set.grouped {
			s.Fatalf("rank %d is in a control group of the launcher: %v, want %v:\n%s%s", l.Rank, grouped, s.set.grouped, l.Group, s.said())
		}
	}
	return s.lives[from:]
}

// rank is the newest process of that rank.
func (s *scene) rank(n int) *life {
	for _, l := range slices.Backward(s.lives) {
		if l.Rank == n {
			return l
		}
	}
	s.Fatalf("no rank %d has reported", n)
	return nil
}

// everyRank tells a command to all ranks of the newest attempt.
func (s *scene) everyRank(command string) {
	for n := range s.ranks {
		s.rank(n).tell(command)
	}
}

func (s *scene) signal(sig syscall.Signal) {
	s.Helper()
	if err := s.launcher.Process.Signal(sig); err != nil {
		s.Fatalf("cannot signal the launcher: %v", err)
	}
}

// freeze returns once all threads of the launcher stand still.
func (s *scene) freeze() {
	s.Helper()
	s.signal(syscall.SIGSTOP)
	for {
		err := unix.Waitid(unix.P_PID, s.launcher.Process.Pid, nil, unix.WSTOPPED, nil)
		if err == nil {
			return
		}
		if !errors.Is(err, unix.EINTR) {
			s.Fatalf("the launcher does not stop: %v", err)
		}
	}
}

// wait returns once the launcher has ended.
func (s *scene) wait() {
	s.Helper()
	ctx, cancel := context.WithTimeout(s.Context(), endLimit)
	defer cancel()
	select {
	case <-s.ended:
	case <-ctx.Done():
		s.Fatalf("the launcher has not ended after %v:\n%s", endLimit, s.said())
	}
}

// ping returns once the launcher has done all that follows from what happened to it
// before: a forwarded signal is answered by rank 0.
func (s *scene) ping() {
	s.Helper()
	ctx, cancel := context.WithTimeout(s.Context(), startLimit)
	defer cancel()
	s.signal(syscall.SIGUSR1)
	select {
	case <-s.rank(0).echoes:
	case <-ctx.Done():
		s.Fatalf("SIGUSR1 has not reached rank 0 after %v:\n%s", startLimit, s.said())
	}
}

// guard is the launcher's guard, other than those that are known.
func (s *scene) guard(known ...int) int {
	s.Helper()
	// Each ping is one look later; the launcher has to learn of an end first.
	for range 1000 {
		for _, pid := range guards(s.launcher.Process.Pid) {
			if !slices.Contains(known, pid) {
				s.ping()
				return pid
			}
		}
		s.ping()
	}
	s.Fatalf("the launcher has no guard:\n%s", s.said())
	return 0
}

// said is what the launcher and its ranks have written to stderr, at least the end.
func (s *scene) said() string {
	text, _ := os.ReadFile(filepath.Join(s.dir, "stderr"))
	const most = 6000
	return string(text[max(0, len(text)-most):])
}

// found lists processes of the job other than its launchers; adopted tells whether
// what the test process has adopted counts, marked or not.
func (s *scene) found(adopted bool) (alive, zombies []process) {
	list, err := processes()
	if err != nil {
		s.Fatal(err)
	}
	for _, p := range list {
		own := p.pid == s.bystander || slices.Contains(s.launchers, p.pid)
		ours := p.has(harness.Marked(s.marker)) || adopted && p.parent == os.Getpid()
		switch {
		case own || !ours:
		case p.zombie():
			zombies = append(zombies, p)
		default:
			alive = append(alive, p)
		}
	}
	return alive, zombies
}

// reap collects what the test process has adopted, as process 1 would.
func (s *scene) reap() {
	_, zombies := s.found(true)
	for _, z := range zombies {
		if z.parent == os.Getpid() {
			_, _ = unix.Wait4(z.pid, nil, unix.WNOHANG, nil)
		}
	}
}

// settle waits until nothing is left, and returns what is after the limit.
func (s *scene) settle(limit time.Duration) []process {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	for {
		s.reap()
		alive, _ := s.found(true)
		if len(alive) == 0 {
			return nil
		}
		if awaitEnd(ctx, alive[0].pid) != nil || ctx.Err() != nil {
			return alive
		}
	}
}

// clean ends what a failed test has left, so that the next one begins with nothing.
func (s *scene) clean() {
	if s.launcher != nil {
		_ = s.launcher.Process.Kill()
		<-s.ended
	}
	ctx, cancel := context.WithTimeout(context.Background(), settleLimit)
	defer cancel()
	for ctx.Err() == nil {
		s.reap()
		alive, zombies := s.found(true)
		if len(alive)+len(zombies) == 0 && !slices.ContainsFunc(s.lives, func(l *life) bool { return !l.isGone() }) {
			break
		}
		for _, p := range alive {
			_ = unix.Kill(p.pid, unix.SIGSTOP) // a chain of forks has to stand still first
		}
		for _, p := range alive {
			_ = unix.Kill(p.pid, unix.SIGKILL)
		}
	}
	for _, path := range slices.Backward(groupsOf(s.launchers)) {
		_ = unix.Rmdir(path)
	}
}

// groupOf reports whether a rank is in a control group that a launcher has made.
func groupOf(r report) bool {
	names := strings.FieldsFunc(r.Group, func(c rune) bool { return c == '/' || c == '\n' })
	return slices.ContainsFunc(names, func(name string) bool {
		_, _, _, ok := cgroup.ParseGroupName(name)
		return ok
	})
}
