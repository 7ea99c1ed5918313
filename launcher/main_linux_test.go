package launcher

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
	"golang.org/x/sys/unix"

	"lenslaunch/internal/proc"
)

// Variables by which a test tells its workers, which are this binary again, what to
// do, and by which it finds them afterwards.
const (
	scriptVariable = "LAUNCHER_TEST_SCRIPT"
	dirVariable    = "LAUNCHER_TEST_DIR"
	markVariable   = "LAUNCHER_TEST_MARK"
)

// TestMain makes the test binary its own worker, and checks at the end that neither a
// goroutine nor a process of any test is left.
func TestMain(m *testing.M) {
	if script := os.Getenv(scriptVariable); script != "" {
		os.Exit(work(script))
	}
	// A command that is never waited for panics when it is collected.
	os.Setenv("GODEBUG", strings.Trim(os.Getenv("GODEBUG")+",execwait=2", ","))
	code := m.Run()
	if code == 0 {
		if err := goleak.Find(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
		if left := processesWith(markVariable + "=" + strconv.Itoa(os.Getpid()) + "-"); len(left) > 0 {
			fmt.Fprintln(os.Stderr, "left behind:", left)
			code = 1
		}
	}
	os.Exit(code)
}

// work does what the script says for this rank and attempt, and returns the exit
// code. A script is clauses "WHO: STEP; STEP" joined by "|"; WHO is a rank or *, with
// @N for one attempt alone; the first that fits is taken.
func work(script string) int {
	w := helper{rank: os.Getenv("RANK"), attempt: os.Getenv("LENSLAUNCH_ATTEMPT"), got: make(chan os.Signal, 16)}
	for clause := range strings.SplitSeq(script, "|") {
		who, steps, _ := strings.Cut(clause, ":")
		rank, attempt, only := strings.Cut(strings.TrimSpace(who), "@")
		if (rank != "*" && rank != w.rank) || (only && attempt != w.attempt) {
			continue
		}
		for step := range strings.SplitSeq(steps, ";") {
			verb, arg, _ := strings.Cut(strings.TrimSpace(step), " ")
			if code, done := w.do(verb, arg); done {
				return code
			}
		}
		return 0
	}
	return 90
}

type helper struct {
	rank, attempt string
	got           chan os.Signal
}

// do does one step. The first result is the exit code if the second is true.
func (w *helper) do(verb, arg string) (int, bool) {
	var err error
	switch verb {
	case "say": // a line on stdout
		fmt.Println(arg)
	case "err": // a line on stderr
		fmt.Fprintln(os.Stderr, arg)
	case "exit":
		code, _ := strconv.Atoi(arg)
		return code, true
	case "gate": // wait until the test opens the gate
		_, err = os.ReadFile(filepath.Join(os.Getenv(dirVariable), arg))
	case "hang": // with the signals' default effect
		<-time.After(10 * time.Minute)
	case "ignore":
		signal.Ignore(signalNamed(arg))
	case "catch": // from now on, for await
		signal.Notify(w.got, signalNamed(arg))
	case "await": // says each signal that comes until this one
		last := signalNamed(arg)
		for sig := w.hear(); sig != last; {
			sig = w.hear()
		}
	case "hear": // says so many signals
		for n, _ := strconv.Atoi(arg); n > 0; n-- {
			w.hear()
		}
	case "die": // of a signal
		err = syscall.Kill(os.Getpid(), signalNamed(arg))
		<-time.After(10 * time.Minute)
	case "env":
		err = os.WriteFile(w.envFile(), []byte(strings.Join(os.Environ(), "\x00")), 0o600)
	case "listen":
		err = listenAsStore()
	case "error-file":
		text, _ := json.Marshal(map[string]string{"message": arg})
		err = os.WriteFile(os.Getenv("TORCHELASTIC_ERROR_FILE"), text, 0o600)
	case "error-dir":
		err = sayMode(filepath.Dir(os.Getenv("TORCHELASTIC_ERROR_FILE")))
	case "stdin":
		var text []byte
		text, err = io.ReadAll(os.Stdin)
		fmt.Printf("stdin %s\n", text)
	default:
		return 91, true
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "helper:", verb, err)
		return 92, true
	}
	return 0, false
}

// hear waits for a signal that is caught and says it.
func (w *helper) hear() os.Signal {
	sig := <-w.got
	fmt.Println("got", proc.SignalName(sig.(syscall.Signal)))
	return sig
}

func (w *helper) envFile() string {
	return filepath.Join(os.Getenv(dirVariable), "env-"+w.rank+"-"+w.attempt)
}

func signalNamed(name string) syscall.Signal {
	sig, err := proc.ParseSignal(name)
	if err != nil {
		fmt.Fprintln(os.Stderr, "helper:", err)
	}
	return sig
}

// listenAsStore does what torch's store does: SO_REUSEADDR, bind, listen.
func listenAsStore() error {
	fd, err := unix.Socket(unix.AF_INET6, unix.SOCK_STREAM, 0)
	if err != nil {
		return err
	}
	port, err := strconv.Atoi(os.Getenv("MASTER_PORT"))
	if err == nil {
		err = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_REUSEADDR, 1)
	}
	if err == nil {
		err = unix.Bind(fd, &unix.SockaddrInet6{Port: port})
	}
	if err == nil {
		err = unix.Listen(fd, 8)
	}
	if err == nil {
		conn, dialErr := net.Dial("tcp", "127.0.0.1:"+strconv.Itoa(port))
		if err = dialErr; err == nil {
			err = conn.Close()
		}
	}
	return err
}

func sayMode(dir string) error {
	info, err := os.Stat(dir)
	if err == nil {
		fmt.Println("mode", info.Mode())
	}
	return err
}

// processesWith lists the living processes whose environment has an entry that
// begins so. A zombie's environment is empty: it is not found here.
func processesWith(prefix string) []string {
	files, _ := filepath.Glob("/proc/[0-9]*/environ")
	var found []string
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			continue // gone meanwhile, or another user's
		}
		for entry := range strings.SplitSeq(string(text), "\x00") {
			if strings.HasPrefix(entry, prefix) {
				found = append(found, filepath.Base(filepath.Dir(file)))
				break
			}
		}
	}
	return found
}
