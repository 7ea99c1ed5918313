package tree

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"lenslaunch/internal/proc"
)

// Actors are the processes of an attempt. Each writes its name and identity to the
// roll, a pipe on descriptor 3 that all of them hold: its end tells the test that none
// is left, whatever it was.

// rollFile is the write end of the roll, readyFile that of a pipe which an actor
// closes once it is what it is meant to be.
var (
	rollFile  = sync.OnceValue(func() *os.File { return os.NewFile(3, "roll") })
	readyFile = sync.OnceValue(func() *os.File { return os.NewFile(4, "ready") })
)

// enroll says who we are, in one write.
func enroll(name string) {
	st, err := proc.ReadStat(os.Getpid())
	if err != nil {
		panic(err)
	}
	if _, err := fmt.Fprintf(rollFile(), "%s %d %d\n", name, st.Pid, st.Start); err != nil {
		panic(err)
	}
	readyFile().Close()
}

// lifetime ends actors whose test has failed to.
const lifetime = 2 * time.Minute

// sit stays until it is killed.
func sit() int {
	timer := time.AfterFunc(lifetime, func() { os.Exit(7) })
	defer timer.Stop()
	for {
		_ = unix.Pause()
	}
}

// actor is a command of this binary that holds the roll.
func actor(role string, args ...string) *exec.Cmd {
	// The running file: another user may not be able to reach it by its name.
	cmd := exec.Command("/proc/self/exe", append([]string{helperWord, role}, args...)...)
	cmd.Args[0] = "actor"
	cmd.Env = append(os.Environ(), "GORACE=atexit_sleep_ms=0")
	cmd.ExtraFiles = []*os.File{rollFile(), readyFile()}
	cmd.SysProcAttr = &syscall.SysProcAttr{}
	return cmd
}

// act is the main function of an actor.
func act(role string, args []string) int {
	switch role {
	case "sit":
		enroll(args[0])
		return sit()
	case "deaf": // ignores every signal that can be ignored
		signal.Ignore()
		enroll(args[0])
		return sit()
	case "headless":
		loseMainThread(args[0])
		return 0
	case "fork-off": // starts the actor that is named and leaves it behind
		cmd := actor(args[0], args[1:]...)
		if os.Getenv("CLEAN") != "" {
			cmd.Env = []string{}
		}
		cmd.SysProcAttr.Setsid = os.Getenv("SESSION") != ""
		cmd.SysProcAttr.Setpgid = os.Getenv("GROUP") != ""
		return must(cmd.Start())
	case "session": // leads one; leaves an orphan in it that shows nothing else
		if err := offspring[ownGroupOrphan](args[0]); err != nil {
			return must(err)
		}
		if args[1] == "leave" {
			return must(started(actor("sit", args[0])))
		}
		enroll(args[0])
		return sit()
	case "amnesiac":
		if err := overwriteEnviron(); err != nil {
			return must(err)
		}
		enroll(args[0])
		return sit()
	case "chain": // is always another process
		n, _ := strconv.Atoi(args[0])
		if n == 0 {
			return 0
		}
		cmd := actor("chain", strconv.Itoa(n-1))
		cmd.Env, cmd.SysProcAttr.Setsid = []string{}, true
		return must(cmd.Start())
	case "rank":
		return beRank(args[0], args[1])
	}
	return 8
}

func must(err error) int {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 9
	}
	return 0
}

// shellChain is a chain of shells, as fast as a chain of programs can be. $1 bounds
// its length.
const shellChain = `[ "$1" -gt 0 ] || exit 0
sh -c "$0" "$0" $(($1 - 1)) &
exit 0`

const ownGroupOrphan = "orphan with a clean environment in a group of its own"

// offspring are the kinds of processes that a rank starts; each returns when what it
// started is what it is meant to be.
var offspring = map[string]func(name string) error{
	"none":  func(string) error { return nil },
	"child": func(name string) error { return started(actor("sit", name)) },
	"own group": func(name string) error {
		cmd := actor("sit", name)
		cmd.SysProcAttr.Setpgid = true
		return started(cmd)
	},
	"own session": func(name string) error {
		cmd := actor("sit", name)
		cmd.SysProcAttr.Setsid = true
		return started(cmd)
	},
	"daemon": func(name string) error {
		cmd := actor("fork-off", "sit", name)
		cmd.SysProcAttr.Setsid = true
		return ended(cmd)
	},
	"daemon with a clean environment": func(name string) error {
		cmd := actor("fork-off", "sit", name)
		cmd.SysProcAttr.Setsid = true
		cmd.Env = append(cmd.Env, "CLEAN=1")
		return ended(cmd)
	},
	"orphan with a clean environment": func(name string) error {
		cmd := actor("fork-off", "sit", name)
		cmd.Env = append(cmd.Env, "CLEAN=1")
		return ended(cmd)
	},
	ownGroupOrphan: func(name string) error {
		cmd := actor("fork-off", "sit", name)
		cmd.Env = append(cmd.Env, "CLEAN=1", "GROUP=1")
		return ended(cmd)
	},
	"session with an orphan": func(name string) error {
		cmd := actor("session", name, "stay")
		cmd.SysProcAttr.Setsid = true
		return started(cmd)
	},
	"session without its leader": func(name string) error {
		cmd := actor("session", name, "leave")
		cmd.SysProcAttr.Setsid = true
		return ended(cmd)
	},
	"ignores signals": func(name string) error { return started(actor("deaf", name)) },
	"stopped": func(name string) error {
		cmd := actor("sit", name)
		if err := started(cmd); err != nil {
			return err
		}
		if err := cmd.Process.Signal(syscall.SIGSTOP); err != nil {
			return err
		}
		_, err := unix.Wait4(cmd.Process.Pid, nil, unix.WUNTRACED, nil)
		return err
	},
	"holds the pipes": func(name string) error {
		cmd := actor("sit", name)
		cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
		return started(cmd)
	},
	"without its first thread": func(name string) error {
		cmd := actor("headless", name)
		cmd.SysProcAttr.Setsid = true
		return started(cmd)
	},
	"forks in a loop": func(string) error {
		cmd := exec.Command("sh", "-c", shellChain, shellChain, "20000")
		cmd.ExtraFiles = []*os.File{rollFile()}
		return cmd.Run()
	},
	"forks in a loop, new session and clean environment each": func(string) error {
		return actor("chain", "1000").Run()
	},
	"overwrites its environment": func(name string) error { return started(actor("amnesiac", name)) },
	// Its own mark shows what it is; the group that it is in then is not the attempt's.
	"joins the launcher's group": func(name string) error {
		group, err := unix.Getpgid(os.Getppid())
		if err != nil {
			return err
		}
		cmd := actor("sit", name)
		cmd.SysProcAttr.Setpgid, cmd.SysProcAttr.Pgid = true, group
		return started(cmd)
	},
	"many": func(name string) error {
		for range 12 {
			if err := started(actor("sit", name)); err != nil {
				return err
			}
		}
		return nil
	},
}

// started starts an actor and waits until it is ready.
func started(cmd *exec.Cmd) error {
	r, w, err := os.Pipe()
	if err != nil {
		return err
	}
	defer r.Close()
	cmd.ExtraFiles[1] = w
	err = cmd.Start()
	w.Close()
	if err == nil {
		_, err = io.Copy(io.Discard, r)
	}
	return err
}

// ended is started for an actor that leaves another behind.
func ended(cmd *exec.Cmd) error {
	if err := started(cmd); err != nil {
		return err
	}
	return cmd.Wait()
}

// beRank starts offspring and enrolls. It stays, or leaves its offspring alone.
func beRank(kind, then string) int {
	if err := offspring[kind](kind); err != nil {
		return must(err)
	}
	enroll("rank")
	if then == "leave" {
		return 0
	}
	return sit()
}

// overwriteEnviron does what setproctitle does: it uses the memory of the environment
// for something else. The kernel says where it is (proc(5): fields 50 and 51).
func overwriteEnviron() error {
	text, err := os.ReadFile("/proc/self/stat")
	if err != nil {
		return err
	}
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+2:]))
	start, err1 := strconv.ParseInt(fields[50-3], 10, 64)
	end, err2 := strconv.ParseInt(fields[51-3], 10, 64)
	mem, err3 := os.OpenFile("/proc/self/mem", os.O_WRONLY, 0)
	if err := errors.Join(err1, err2, err3); err != nil {
		return err
	}
	defer mem.Close()
	_, err = mem.WriteAt(make([]byte, end-start), start)
	return err
}

// loseMainThread ends the first thread of this process, as pthread_exit in main does,
// while others run on.
func loseMainThread(name string) {
	go func() {
		for {
			if st, err := proc.ReadStat(os.Getpid()); err == nil && st.State == 'Z' {
				enroll(name)
				os.Exit(sit())
			}
			runtime.Gosched()
		}
	}()
	hunt()
}

func hunt() {
	runtime.LockOSThread()
	if unix.Gettid() == os.Getpid() {
		_, _, _ = syscall.Syscall(syscall.SYS_EXIT, 0, 0, 0)
	}
	go hunt() // another thread than this one, which is kept
	select {}
}
