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

func help(behaviour string) int {
	switch behaviour {
	case "exit":
		code, _ := strconv.Atoi(os.Args[1])
		return code
	case "hang":
		fmt.Println("ready")
		_, _ = io.Copy(io.Discard, os.Stdin)
		select {}
	case "ignore-term":
		signal.Ignore(syscall.SIGTERM)
		fmt.Println("ready")
		select {}
	case "fork-hang":
		child := exec.Command(os.Args[0])
		child.Env = append(os.Environ(), "PROC_TEST_HELPER=hang")
		out, err := child.StdoutPipe()
		if err != nil || child.Start() != nil {
			return 9
		}
		_, _ = io.ReadFull(out, make([]byte, len("ready\n")))
		fmt.Println(child.Process.Pid)
		select {}
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
	return 8
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
	select {}
}
