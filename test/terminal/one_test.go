//go:build terminal && linux

package terminal

import (
	"golang.org/x/sys/unix"
)

// Sessions with one rank. Its stdin is the terminal, so it has the foreground.

func oneAsks(s *session) {
	s.run("lenslaunch --nproc 1 -- python3 ask.py")
	s.shows("terminal: True True True\n", "? ")
	s.enter("hello")
	s.shows("you said hello\n", "? ")
	s.enter("quit")
	s.code("0")
}

// The keys reach the rank itself; what it does not survive ends the job.
func oneCtrlC(s *session) {
	s.run("lenslaunch --nproc 1 --max-restarts 3 -- python3 die.py")
	s.shows("ready\n")
	s.press(ctrlC)
	s.code("130")
}

func oneCtrlBackslash(s *session) {
	s.run("lenslaunch --nproc 1 --max-restarts 3 -- python3 die.py")
	s.shows("ready\n")
	s.press(ctrlBackslash)
	s.code("131")
}

func oneCounts(s *session) {
	s.run("lenslaunch --nproc 1 -- python3 count.py")
	s.shows("ready\n")
	s.press(ctrlC)
	s.shows("got SIGINT\n")
	s.code("0")
}

func oneSaves(s *session) {
	s.run("lenslaunch --nproc 1 --max-restarts 3 -- python3 save.py")
	s.shows("ready\n")
	s.press(ctrlC)
	s.shows("saved\n")
	s.code("0")
}

func oneIsStopped(s *session) {
	s.run("lenslaunch --nproc 1 -- python3 ask.py")
	s.shows("? ")
	job := s.job(1)
	s.press(ctrlZ)
	s.shows("Stopped")
	s.stopped(true, job...)
	s.foreground("python3 ask.py")
	s.stopped(false, job...)
	s.enter("hello")
	s.shows("you said hello\n", "? ")
	// In the background a program that reads the terminal is stopped by the kernel; the
	// shell must see that of the job.
	s.press(ctrlZ)
	s.shows("Stopped")
	s.run("bg")
	s.asks()
	s.stopped(true, job...)
	s.run("")
	s.shows("Stopped")
	s.foreground("python3 ask.py")
	s.stopped(false, job...)
	s.enter("quit")
	s.code("0")
}

func oneGoesOnInTheBackground(s *session) {
	s.run("lenslaunch --nproc 1 -- python3 work.py")
	s.shows("ready\n")
	job := s.job(1)
	s.press(ctrlZ)
	s.shows("Stopped")
	s.stopped(true, job...)
	s.run("bg")
	s.shows("goes on\n")
	s.stopped(false, job...)
	s.run("jobs")
	s.shows("Running")
	s.run("kill %1")
	s.shows("saved\n")
	s.run("wait %1")
	s.code("143")
}

func oneStoppedIsKilled(s *session) {
	s.run("lenslaunch --nproc 1 -- python3 count.py")
	s.shows("ready\n")
	launcher := s.launcher()
	s.press(ctrlZ)
	s.shows("Stopped")
	s.run("kill %1")
	s.shows("got SIGTERM\n")
	s.awaitEnd(s.ctx, launcher) // bash does not wait for a job that it takes for stopped
	s.run("wait %1")
	s.code("143")
}

// A rank that is killed in raw mode leaves a terminal that shows nothing of what is
// typed.
func oneLeavesRawMode(s *session) {
	s.run("lenslaunch --nproc 1 -- python3 raw.py")
	s.shows("ready")
	s.signal(s.rank(0), unix.SIGKILL)
	s.code("137")
	s.run("sh -c 'echo go; read line; echo read $line'")
	s.shows("go\n")
	s.enter("hello")
	s.shows("hello\n", "read hello\n")
	s.code("0")
}

// A script has no job control: nobody but the launcher gives the terminal back to it.
func oneInAScript(s *session) {
	s.run("sh script.sh")
	s.shows("? ")
	job := s.job(1)
	s.press(ctrlZ)
	s.shows("Stopped")
	s.stopped(true, job...)
	s.foreground("sh script.sh")
	s.enter("quit")
	s.shows("and now? ")
	s.enter("hello")
	s.shows("the script read hello\n")
	s.code("0")
}

func oneInAPipeline(s *session) {
	s.run("lenslaunch --nproc 1 -- python3 ask.py | tee $TMPDIR/log")
	s.shows("terminal: True False True\n", "? ")
	s.press(ctrlZ)
	s.shows("Stopped")
	s.foreground("python3 ask.py | tee $TMPDIR/log")
	s.enter("quit")
	s.code("0")
}

func oneBeginsInTheBackground(s *session) {
	s.run("lenslaunch --nproc 1 -- python3 work.py &")
	s.shows("ready\n")
	s.stopped(false, s.job(1)...)
	s.run("jobs")
	s.shows("Running")
	s.run("kill -INT %1")
	s.shows("saved\n")
	s.run("wait %1")
	s.code("130")
}

// The shell says nothing to a job that runs already when it gets the foreground.
func oneIsBroughtToTheForeground(s *session) {
	gate := s.gate()
	s.run("lenslaunch --nproc 1 -- python3 gate.py &")
	s.shows("ready\n")
	s.run("fg")
	s.shows("python3 gate.py\n")
	gate()
	s.shows("? ")
	s.enter("hello")
	s.shows("you said hello\n")
	s.code("0")
}

func oneReadsInTheBackground(s *session) {
	s.run("lenslaunch --nproc 1 -- python3 ask.py &")
	s.shows("terminal: True True True\n")
	s.stopped(true, s.job(1)...)
	s.run("")
	s.shows("Stopped")
	s.foreground("python3 ask.py")
	s.enter("hello")
	s.shows("you said hello\n", "? ")
	s.enter("quit")
	s.code("0")
}

func oneLauncherIsKilled(s *session) {
	s.run("lenslaunch --nproc 1 -- python3 raw.py")
	s.shows("ready")
	launcher, rank := s.launcher(), s.rank(0)
	s.signal(launcher, unix.SIGKILL)
	s.shows("Killed")
	s.awaitEnd(s.ctx, rank)
	s.code("137")
	s.run("sh -c 'echo go; read line; echo read $line'")
	s.shows("go\n")
	s.enter("hello")
	s.shows("hello\n", "read hello\n")
}
