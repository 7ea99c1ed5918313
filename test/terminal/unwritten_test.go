//go:build terminal && linux

package terminal

import (
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// Sessions that are not written down: what matters in them cannot be seen on the screen,
// or differs from one time to the next.

// Two in quick succession are one: keys bounce. The second one that is meant as such
// kills.
func TestSecondCtrlCKills(t *testing.T) {
	s := sit(t)
	for try := 1; ; try++ {
		s.run("lenslaunch --nproc 4 --stop-timeout 10m -- python3 stubborn.py")
		s.showsAll(each("ready\n")...)
		s.press(ctrlC)
		began := time.Now()
		s.shows("stopping on SIGINT from the terminal\n")
		s.press(ctrlC)
		// On a busy machine it may take longer than meant; then nothing is shown by it.
		if time.Since(began) < 200*time.Millisecond {
			break
		}
		if try == 5 {
			s.Skip("nobody can press a key twice in 200 ms here")
		}
		s.signal(s.launcher(), unix.SIGKILL)
		s.shows("Killed")
	}
	s.showsAll(each("still here\n")...)
	s.stopped(false, s.job(4)...)
	s.press(ctrlC)
	s.code("130")
}

// What the user has stopped is the user's to continue.
func TestRankThatTheUserHasStopped(t *testing.T) {
	s := sit(t)
	s.run("lenslaunch --nproc 4 -- python3 work.py")
	s.showsAll(each("ready\n")...)
	job := s.job(4)
	s.signal(s.rank(2), unix.SIGSTOP)
	s.stopped(true, s.rank(2))
	s.press(ctrlZ)
	s.shows("Stopped")
	s.stopped(true, job...)
	s.foreground("python3 work.py")
	s.showsAll("[0] goes on\n", "[1] goes on\n", "[3] goes on\n")
	s.stopped(true, s.rank(2))
	s.signal(s.rank(2), unix.SIGCONT)
	s.shows("[2] goes on\n")
	s.press(ctrlC)
	s.showsAll(each("saved\n")...)
	s.code("130")
}

// What the launcher says while its rank has the foreground must not stop it.
func TestMessagesUnderTostop(t *testing.T) {
	s := sit(t)
	s.run("stty tostop")
	s.run("lenslaunch -v --nproc 1 -- python3 ask.py")
	s.shows("? ")
	s.signal(s.launcher(), unix.SIGUSR2)
	s.shows("SIGUSR2")
	s.code("140")
	s.run("stty -tostop")
}

// A launcher that was stopped by others, whose shell has the terminal meanwhile, does
// not take it away from the shell.
func TestLauncherThatOthersHaveStopped(t *testing.T) {
	s := sit(t)
	s.run("lenslaunch --nproc 1 -- python3 work.py")
	s.shows("ready\n")
	launcher, rank := s.launcher(), s.rank(0)
	s.signal(launcher, unix.SIGSTOP)
	s.shows("Stopped")
	s.stopped(true, launcher)
	s.signal(rank, unix.SIGTERM)
	s.awaitEnd(s.ctx, rank)
	s.run("bg")
	s.awaitEnd(s.ctx, launcher)
	s.run("wait %1")
	s.code("0")
}
