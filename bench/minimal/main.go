// Command minimal is the limit that benchmarks pair lenslaunch with: the smallest Go
// program that starts N processes and waits for them. Usage: minimal N COMMAND [ARG...]
package main

import (
	"fmt"
	"os"
	"os/exec"
	"strconv"
)

func main() {
	n, err := strconv.Atoi(os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, "usage: minimal N COMMAND [ARG...]")
		os.Exit(2)
	}
	code := 0
	var started []*exec.Cmd
	for range n {
		cmd := exec.Command(os.Args[2], os.Args[3:]...)
		cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
		if cmd.Start() != nil {
			os.Exit(127)
		}
		started = append(started, cmd)
	}
	for _, cmd := range started {
		if cmd.Wait() != nil {
			code = 1
		}
	}
	os.Exit(code)
}
