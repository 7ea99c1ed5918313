//go:build terminal && linux

package terminal

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// A terminal that goes away ends the job, whoever tells it: the shell that is hung up,
// or the kernel when the shell was killed. hangup.sh lives on and notes the exit code.
func TestHangUp(t *testing.T) {
	for name, end := range map[string]func(*session){
		"terminal closed": func(s *session) { s.pty.Close() },
		"shell killed":    func(s *session) { _ = s.shell.Process.Kill() },
	} {
		t.Run(name+", one rank", func(t *testing.T) {
			s := sit(t)
			s.run("sh hangup.sh --nproc 1 --max-restarts 3 -- python3 die.py")
			s.shows("ready\n")
			s.endsByHangUp(end)
		})
		t.Run(name+", four ranks", func(t *testing.T) {
			s := sit(t)
			s.run("sh hangup.sh --nproc 4 --max-restarts 3 -- python3 die.py")
			s.showsAll(each("ready\n")...)
			s.endsByHangUp(end)
		})
	}
}

func (s *session) endsByHangUp(end func(*session)) {
	s.Helper()
	script := 0
	for _, p := range s.processes() {
		if p.name == "sh" {
			script = p.pid
		}
	}
	end(s)
	s.awaitEnd(s.ctx, script)
	code, err := os.ReadFile(filepath.Join(s.dir, "code"))
	if err != nil || strings.TrimSpace(string(code)) != "129" {
		s.Errorf("exit code %q, want 129 (%v)", code, err)
	}
}

// pytorch#67538: under nohup the job survives its terminal, and launcher and ranks go on
// ignoring the hang-up. Only that: other signals are as in any program.
func TestNohup(t *testing.T) {
	s := sit(t)
	news := s.pipe("news")
	s.run("nohup lenslaunch --nproc 1 -- python3 ignored.py >$TMPDIR/news 2>&1 &")
	news.shows("ignores SIGHUP\n")
	launcher := s.launcher()
	s.pty.Close()
	<-s.ended
	s.signal(launcher, unix.SIGHUP)
	s.signal(launcher, unix.SIGTERM)
	news.shows("stopping on SIGTERM from pid ", "saved\n")
	s.awaitEnd(s.ctx, launcher)
}

// pipe makes a FIFO that the test reads. It is open at both ends here, so that nobody
// waits for anybody.
func (s *session) pipe(name string) *session {
	s.Helper()
	path := filepath.Join(s.dir, name)
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		s.Fatal(err)
	}
	f, err := os.OpenFile(path, os.O_RDWR|unix.O_NONBLOCK, 0)
	if err != nil {
		s.Fatal(err)
	}
	s.Cleanup(func() { f.Close() })
	reader := *s
	reader.screen = newScreen(f)
	return &reader
}
