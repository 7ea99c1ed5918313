package proc

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"syscall"
	"testing"

	"go.uber.org/goleak"
	"golang.org/x/sys/unix"
)

// TestMain makes the test binary its own helper: behaviours by name, readiness by a
// line on stdout, never by a sleep.
func TestMain(m *testing.M) {
	if behaviour := os.Getenv("PROC_TEST_HELPER"); behaviour != "" {
		os.Exit(help(behaviour))
	}
	code := m.Run()
	if code == 0 {
		if err := goleak.Find(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}

// hang never returns. (An empty select would end a process without other goroutines:
// "all goroutines are asleep".)
func hang() {
	for {
		_ = unix.Pause()
	}
}

func help(behaviour string) int {
	switch behaviour {
	case "exit":
		code, _ := strconv.Atoi(os.Args[1])
		return code
	case "hang":
		fmt.Println("ready")
		_, _ = io.Copy(io.Discard, os.Stdin)
		hang()
	case "ignore-term":
		signal.Ignore(syscall.SIGTERM)
		fmt.Println("ready")
		hang()
	case "fork-hang":
		child := exec.Command(os.Args[0])
		child.Env = append(os.Environ(), "PROC_TEST_HELPER=hang")
		out, err := child.StdoutPipe()
		if err != nil || child.Start() != nil {
			return 9
		}
		_, _ = io.ReadFull(out, make([]byte, len("ready\n")))
		fmt.Println(child.Process.Pid)
		hang()
	case "parent":
		return beParent()
	case "mask":
		text, err := os.ReadFile("/proc/self/status")
		if err != nil {
			return 9
		}
		os.Stdout.Write(text)
		return 0
	}
	if check, ok := adopterChecks()[behaviour]; ok {
		return adopt(check)
	}
	return helpMore(behaviour)
}

// beParent starts a hanging child through a Spawner, says its pid and waits to be
// killed.
func beParent() int {
	s, err := NewSpawner()
	if err != nil {
		return 9
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "PROC_TEST_HELPER=ignore-term")
	child, err := s.Start(cmd)
	if err != nil {
		return 9
	}
	fmt.Println(child.Pid)
	hang()
	return 0
}
