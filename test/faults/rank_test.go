//go:build faults && linux

package faults

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// report is what a rank says of itself once its offspring are in place.
type report struct {
	Rank, Attempt int
	Pid           int
	Offspring     []int
	Port          int    // MASTER_PORT
	Group         string // its control groups, as /proc/self/cgroup shows them
}

// rankRole is a rank: it makes its offspring, reports, and does what the test says.
func rankRole() error {
	k, err := kindNamed(os.Getenv(kindVariable))
	if err != nil {
		return err
	}
	// Ranks are larger than their launcher, but not these: the kernel, short of memory,
	// shall take one of their processes, not the launcher beside them.
	if err := victim(500); err != nil {
		return err
	}
	signals := handle(k)
	conn, err := net.Dial("unix", os.Getenv(hubVariable))
	if err != nil {
		return err
	}
	r, err := present(k, conn.(*net.UnixConn))
	if err != nil {
		return err
	}
	text, err := json.Marshal(r)
	if err != nil {
		return err
	}
	if _, err := conn.Write(append(text, '\n')); err != nil {
		return err
	}
	commands := make(chan string)
	go func() {
		for sc := bufio.NewScanner(conn); sc.Scan(); {
			commands <- sc.Text()
		}
	}()
	for {
		select {
		case sig := <-signals:
			switch {
			case sig != syscall.SIGTERM:
				fmt.Fprintln(conn, "heard")
			case slow():
				fmt.Fprintln(conn, "asked")
			default:
				os.Exit(0)
			}
		case command := <-commands:
			if err := obey(command); err != nil {
				return err
			}
		}
	}
}

// slow is for ranks that save, and exit when the test says that they have.
func slow() bool { return os.Getenv("FAULTS_SLOW") != "" }

// handle sets up the rank's signals: rank 0 dies of SIGTERM, rank 1 has a handler and
// exits by itself, and both may be deaf or slow. SIGUSR1 and SIGUSR2 are answered.
func handle(k kind) <-chan os.Signal {
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, syscall.SIGUSR1, syscall.SIGUSR2)
	if os.Getenv("RANK") == "1" || slow() {
		signal.Notify(signals, syscall.SIGTERM)
	}
	if k.deaf {
		signal.Ignore(syscall.SIGTERM, syscall.SIGINT)
	}
	return signals
}

// present makes the offspring and says what there is.
func present(k kind, conn *net.UnixConn) (report, error) {
	r := report{Pid: os.Getpid()}
	var errs [3]error
	r.Rank, errs[0] = strconv.Atoi(os.Getenv("RANK"))
	r.Attempt, errs[1] = strconv.Atoi(os.Getenv("LENSLAUNCH_ATTEMPT"))
	r.Port, errs[2] = strconv.Atoi(os.Getenv("MASTER_PORT"))
	if err := errors.Join(errs[:]...); err != nil {
		return r, err
	}
	group, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return r, err
	}
	r.Group = string(group)
	lifeline, err := conn.File()
	if err != nil {
		return r, err
	}
	port, err := store(r.Port)
	if err != nil {
		return r, err
	}
	r.Offspring, err = k.spawn(lifeline, port)
	return r, err
}

// store is what rank 0 of torch does with MASTER_PORT: it listens on it. Go sets
// SO_REUSEADDR on listening sockets, as torch does. Other ranks have nothing to hold.
func store(port int) (*os.File, error) {
	if os.Getenv("RANK") != "0" {
		return os.Open(os.DevNull)
	}
	listener, err := net.Listen("tcp", net.JoinHostPort("", strconv.Itoa(port)))
	if err != nil {
		return nil, err
	}
	return listener.(*net.TCPListener).File()
}

// obey does what the test tells a rank to do.
func obey(command string) error {
	verb, number, _ := strings.Cut(command, " ")
	switch verb {
	case "exit", "blame":
		if verb == "blame" {
			// As torch's record decorator does.
			text := []byte(`{"message": "the rank's own words"}`)
			if err := os.WriteFile(os.Getenv("TORCHELASTIC_ERROR_FILE"), text, 0o600); err != nil {
				return err
			}
		}
		code, err := strconv.Atoi(number)
		if err != nil {
			return err
		}
		os.Exit(code)
	case "crash":
		return crash()
	case "allocate":
		return allocate()
	case "print":
		// More than a pipe holds, to a console that has gone.
		for range 4000 {
			fmt.Println("a line of the rank's output that nobody reads any more")
		}
		os.Exit(0)
	}
	return fmt.Errorf("no command %q", command)
}

// victim makes this process, and what it starts from now on, the kernel's choice.
func victim(score int) error {
	return os.WriteFile("/proc/self/oom_score_adj", []byte(strconv.Itoa(score)), 0)
}

// allocate takes memory until the kernel ends it, and never more than a small machine
// has.
func allocate() error {
	if err := victim(1000); err != nil {
		return err
	}
	const step, most = 1 << 20, 512 << 20
	for n := 0; n < most; n += step {
		const flags = unix.MAP_PRIVATE | unix.MAP_ANONYMOUS | unix.MAP_POPULATE
		if _, err := unix.Mmap(-1, 0, step, unix.PROT_READ|unix.PROT_WRITE, flags); err != nil {
			return err
		}
	}
	return errors.New("nobody ended the allocation")
}
