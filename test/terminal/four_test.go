//go:build terminal && linux

package terminal

import "golang.org/x/sys/unix"

// Sessions with four ranks. None of them reads the terminal, so the launcher keeps the
// foreground.

func fourCtrlC(s *session) {
	s.run("lenslaunch --nproc 4 --max-restarts 3 -- python3 count.py")
	s.showsAll(each("ready\n")...)
	s.press(ctrlC)
	s.showsAll(each("got SIGTERM\n")...)
	s.code("130")
}

func fourCtrlCAsSIGINT(s *session) {
	s.run("lenslaunch --nproc 4 --stop-signal INT -- python3 count.py")
	s.showsAll(each("ready\n")...)
	s.press(ctrlC)
	s.showsAll(each("got SIGINT\n")...)
	s.code("130")
}

func fourAreStopped(s *session) {
	s.run("lenslaunch --nproc 4 -- python3 work.py")
	s.showsAll(each("ready\n")...)
	job := s.job(4)
	s.press(ctrlZ)
	s.shows("Stopped")
	s.stopped(true, job...)
	s.foreground("python3 work.py")
	s.showsAll(each("goes on\n")...)
	s.stopped(false, job...)
	s.press(ctrlZ)
	s.shows("Stopped")
	s.stopped(true, job...)
	s.run("bg")
	s.showsAll(each("goes on\n")...)
	s.stopped(false, job...)
	s.run("jobs")
	s.shows("Running")
	s.run("kill %1")
	s.showsAll(each("saved\n")...)
	s.run("wait %1")
	s.code("143")
}

func fourBeginInTheBackground(s *session) {
	s.run("lenslaunch --nproc 4 -- python3 work.py &")
	s.showsAll(each("ready\n")...)
	s.stopped(false, s.job(4)...)
	s.run("jobs")
	s.shows("Running")
	s.foreground("python3 work.py")
	s.press(ctrlC)
	s.showsAll(each("saved\n")...)
	s.code("130")
}

// A shell without job control ignores INT and QUIT for what it starts with &.
func fourInTheBackgroundOfAScript(s *session) {
	s.run("sh background.sh")
	s.showsAll(each("ignores\n")...)
	s.signal(s.launcher(), unix.SIGINT)
	s.showsAll(each("saved\n")...)
	s.shows("the launcher ended with 130\n")
	s.code("0")
}

func fourUnderTostop(s *session) {
	s.run("stty tostop")
	s.run("lenslaunch --nproc 4 -- python3 work.py")
	s.showsAll(each("ready\n")...)
	s.stopped(false, s.job(4)...)
	s.press(ctrlC)
	s.showsAll(each("saved\n")...)
	s.code("130")
	// In the background the user has asked for this.
	s.run("lenslaunch --nproc 4 -- python3 nobody.py &")
	s.stopped(true, s.launcher())
	s.run("")
	s.shows("Stopped")
	s.foreground("python3 nobody.py")
	s.showsAll(each("no terminal: No such device or address\n")...)
	s.code("0")
	s.run("stty -tostop")
}

func fourHaveNoTerminal(s *session) {
	s.run("lenslaunch --nproc 4 -- python3 nobody.py")
	s.showsAll(each("no terminal: No such device or address\n")...)
	s.code("0")
}

// One of four may read the terminal, if it is named. Then the keys are its own.
func fourOneOfThemReads(s *session) {
	s.run("lenslaunch --nproc 4 --stdin 2 --max-restarts 3 -- python3 reader.py")
	s.showsAll("[0] ready\n", "[1] ready\n", "[3] ready\n", "[2] ?")
	job := s.job(4)
	s.press(ctrlZ)
	s.shows("Stopped")
	s.stopped(true, job...)
	s.foreground("python3 reader.py")
	s.stopped(false, job...)
	s.enter("hello")
	s.shows("[2] you said hello\n")
	s.press(ctrlC)
	s.showsAll("[0] saved\n", "[1] saved\n", "[3] saved\n")
	s.code("130")
}
