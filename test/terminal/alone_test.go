//go:build terminal && linux

package terminal

import (
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"lenslaunch/test/harness"
)

// Launchers without a shell above them.

// One that leads its terminal's session (`ssh -t host lenslaunch`) has nobody who could
// continue it: Ctrl-Z does nothing, as for any other program there.
func TestCtrlZWithoutAShell(t *testing.T) {
	t.Run("one rank", func(t *testing.T) {
		s := sitBefore(t, harness.Binary(), "--nproc", "1", "--", "python3", "ask.py")
		s.shows("? ")
		s.press(ctrlZ)
		s.enter("hello")
		s.shows("you said hello\n", "? ")
		s.enter("quit")
		s.exits(0)
	})
	t.Run("four ranks", func(t *testing.T) {
		s := sitBefore(t, harness.Binary(), "-v", "--nproc", "4", "--", "python3", "work.py")
		s.showsAll(each("ready\n")...)
		s.press(ctrlZ)
		s.shows("SIGTSTP", "SIGCONT")
		s.stopped(false, s.job(4)...)
		s.press(ctrlC)
		s.showsAll(each("saved\n")...)
		s.exits(130)
		s.silent(0, "goes on")
	})
}

// scontrol suspend sends SIGTSTP, sometimes more than once, and resume SIGCONT; scancel
// sends SIGCONT before SIGTERM to a job that may not be stopped at all.
func TestSchedulerSuspends(t *testing.T) {
	s := without(t, harness.Binary(), "--nproc", "2", "--", "python3", "work.py")
	s.showsAll("[0] ready\n", "[1] ready\n")
	job := s.job(2)
	for range 2 {
		s.signal(job[0], unix.SIGTSTP)
		s.signal(job[0], unix.SIGTSTP)
		s.stopped(true, job...)
		s.signal(job[0], unix.SIGCONT)
		s.showsAll("[0] goes on\n", "[1] goes on\n")
		s.stopped(false, job...)
	}
	place := s.place()
	s.signal(job[0], unix.SIGCONT)
	s.signal(job[0], unix.SIGTERM)
	s.showsAll("[0] saved\n", "[1] saved\n")
	s.exits(143)
	s.silent(place, "goes on")
}

func TestSchedulerEndsASuspendedJob(t *testing.T) {
	s := without(t, harness.Binary(), "--nproc", "2", "--", "python3", "work.py")
	s.showsAll("[0] ready\n", "[1] ready\n")
	job := s.job(2)
	s.signal(job[0], unix.SIGTSTP)
	s.stopped(true, job...)
	s.signal(job[0], unix.SIGTERM)
	s.signal(job[0], unix.SIGCONT)
	s.showsAll("[0] saved\n", "[1] saved\n")
	s.exits(143)
}

// As process 1 of a container the launcher has no default actions of signals, adopts
// every orphan of the container, and must leave alone what others start there
// (`docker exec`), also what those leave behind.
func TestProcessOne(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("a pid namespace needs root")
	}
	s := without(t, "unshare", "--pid", "--fork", "--mount-proc",
		harness.Binary(), "--nproc", "2", "--max-restarts", "1", "--restart-delay", "0s", "--", "python3", "orphan.py")
	s.showsAll("[0] ready in attempt 0\n", "[1] ready in attempt 0\n")
	job := s.job(2)
	s.noZombies(job[0])
	strangers := s.strangers(job[0])

	// It cannot stop itself; its ranks can be stopped through it.
	s.signal(job[0], unix.SIGTSTP)
	s.stopped(true, job[1:]...)
	s.signal(job[0], unix.SIGCONT)
	s.stopped(false, job...)

	s.signal(job[1], unix.SIGKILL)
	s.showsAll("[0] ready in attempt 1\n", "[1] ready in attempt 1\n")
	s.stopped(false, strangers...)
	s.noZombies(job[0])
	s.signal(job[0], unix.SIGTERM)
	s.showsAll("[0] saved\n", "[1] saved\n")
	s.exits(143)
}

// strangers enters the container as `docker exec` does and starts two processes there,
// one of which loses its parent.
func (s *session) strangers(inside int) []int {
	s.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		s.Fatal(err)
	}
	defer r.Close()
	cmd := exec.Command("nsenter", "--target", strconv.Itoa(inside), "--pid", "--mount",
		"sh", "-c", "(sleep 600 </dev/null >/dev/null 2>&1 &); echo in; exec sleep 600")
	cmd.Env = append(harness.Environment(s.dir, s.marker), "STRANGER=yes")
	cmd.Stdout = w
	err = cmd.Start()
	w.Close()
	if err != nil {
		s.Fatal(err)
	}
	s.Cleanup(func() { _ = cmd.Wait() }) // ended by the container's end
	reader := *s
	reader.screen = newScreen(r)
	reader.shows("in\n")
	var pids []int
	s.until("both strangers are there", func() bool {
		pids = nil
		for _, p := range s.processes() {
			if p.name == "sleep" {
				pids = append(pids, p.pid)
			}
		}
		return len(pids) == 2
	})
	return pids
}

// noZombies waits until a process has no zombie for a child.
func (s *session) noZombies(parent int) {
	s.Helper()
	task := "/proc/" + strconv.Itoa(parent) + "/task/" + strconv.Itoa(parent)
	s.until("no zombie is left", func() bool {
		text, err := os.ReadFile(task + "/children")
		if err != nil {
			s.Fatal(err)
		}
		for _, pid := range strings.Fields(string(text)) {
			if p, ok := readProcess("/proc/" + pid); ok && p.state == 'Z' {
				return false
			}
		}
		return true
	})
}
