//go:build slurm && linux

package slurm

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// report is a line from a process of a job.
type report struct {
	Kind   string // "rank", "note" or "signal"
	Text   string `json:",omitempty"` // of a note
	Signal string `json:",omitempty"`
	Pid    int
	Parent int
	Env    map[string]string `json:",omitempty"`
}

// play is the program of a rank, or, with words, of a script that says something.
func play(hub string, words []string) int {
	conn, err := net.Dial("unix", "@"+hub)
	if err != nil {
		fmt.Fprintln(os.Stderr, "cannot report:", err)
		return 99
	}
	r := rank{conn: conn, mode: os.Getenv(modeVariable)}
	r.say(report{Kind: kindOf(words), Text: strings.Join(words, " "), Env: environment()})
	if len(words) > 0 {
		return 0
	}
	return r.work()
}

func kindOf(words []string) string {
	if len(words) > 0 {
		return "note"
	}
	return "rank"
}

type rank struct {
	conn net.Conn
	mode string
	mu   sync.Mutex // lines stay whole
}

func (r *rank) say(line report) {
	line.Pid, line.Parent = os.Getpid(), os.Getppid()
	text, err := json.Marshal(line)
	if err != nil {
		panic(err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	_, _ = r.conn.Write(append(text, '\n'))
}

// work is a rank's life: it reports signals and ends when told to, by a signal that its
// mode heeds, or with the test.
func (r *rank) work() int {
	signals := make(chan os.Signal, 64)
	// A Go program cannot tell the absence of a handler: "plain" dies of what it gets.
	if r.mode != "plain" {
		signal.Notify(signals, unix.SIGTERM, unix.SIGINT, unix.SIGHUP, unix.SIGQUIT, unix.SIGUSR1, unix.SIGUSR2, unix.SIGCONT)
	}
	if r.mode == "litter" {
		if err := r.litter(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 98
		}
	}
	r.say(report{Kind: "ready"})
	commands := make(chan string)
	go func() {
		for lines := bufio.NewScanner(r.conn); lines.Scan(); {
			commands <- lines.Text()
		}
		close(commands)
	}()
	for {
		select {
		case sig := <-signals:
			r.say(report{Kind: "signal", Signal: unix.SignalName(sig.(syscall.Signal))})
			if code, ends := r.heed(sig); ends {
				return code
			}
		case command, ok := <-commands:
			if !ok {
				return 97 // the test is over
			}
			code, err := strconv.Atoi(strings.TrimPrefix(command, "exit "))
			if err != nil {
				return 96
			}
			return code
		}
	}
}

// heed says whether a signal ends the rank.
func (r *rank) heed(sig os.Signal) (code int, ends bool) {
	switch {
	case sig == unix.SIGTERM && r.mode == "linger":
		// The second SIGTERM of a time limit must find it alive.
		r.wait(time.Second)
		return 0, true
	case sig == unix.SIGTERM && r.mode != "deaf":
		return 0, true
	case sig == unix.SIGUSR1 && r.mode == "save":
		return 0, true
	}
	return 0, false
}

// wait goes on for so long, and takes signals meanwhile.
func (r *rank) wait(d time.Duration) {
	signals := make(chan os.Signal, 64)
	signal.Notify(signals, unix.SIGTERM, unix.SIGCONT)
	over := time.After(d)
	for {
		select {
		case sig := <-signals:
			r.say(report{Kind: "signal", Signal: unix.SignalName(sig.(syscall.Signal))})
		case <-over:
			return
		}
	}
}

// litter starts what some ranks leave behind: a child, and a daemon in a session of its
// own. Both hold the connection, so that the test sees when the last of them is gone.
func (r *rank) litter() error {
	file, err := r.conn.(*net.UnixConn).File()
	if err != nil {
		return err
	}
	defer file.Close()
	for _, daemon := range []bool{false, true} {
		cmd := exec.Command("sleep", "600")
		cmd.ExtraFiles = []*os.File{file}
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: daemon}
		if err := cmd.Start(); err != nil {
			return err
		}
	}
	return nil
}

func environment() map[string]string {
	env := map[string]string{}
	for _, entry := range os.Environ() {
		key, value, _ := strings.Cut(entry, "=")
		env[key] = value
	}
	return env
}
