// Command supervisor is the peer that benchmarks of a failure pair lenslaunch with:
// the smallest Go program that starts N processes, asks the others to end when the
// first one fails, and returns its exit code. Usage: supervisor N COMMAND [ARG...]
package main

import (
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"syscall"
)

func main() {
	n, err := strconv.Atoi(os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, "usage: supervisor N COMMAND [ARG...]")
		os.Exit(2)
	}
	ended := make(chan int)
	var started []*exec.Cmd
	for rank := range n {
		cmd := exec.Command(os.Args[2], os.Args[3:]...)
		cmd.Env = append(os.Environ(), "RANK="+strconv.Itoa(rank))
		cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
		if cmd.Start() != nil {
			os.Exit(127)
		}
		started = append(started, cmd)
		go func() {
			_ = cmd.Wait() // the exit code says it all
			ended <- cmd.ProcessState.ExitCode()
		}()
	}
	code := 0
	for range n {
		if got := <-ended; got != 0 && code == 0 {
			code = got
			for _, cmd := range started {
				_ = cmd.Process.Signal(syscall.SIGTERM)
			}
		}
	}
	os.Exit(code)
}
