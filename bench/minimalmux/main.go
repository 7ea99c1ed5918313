// Command minimalmux is what benchmarks pair the launcher's output with: the smallest
// Go program that starts N processes and prefixes their lines. It has a goroutine for
// each pipe and writes all whole lines of a read at once, which is as fast as a program
// of this kind gets. Usage: minimalmux N COMMAND [ARG...]
package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"sync"
)

func main() { os.Exit(run()) }

func run() int {
	n, err := strconv.Atoi(os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, "usage: minimalmux N COMMAND [ARG...]")
		return 2
	}
	var console sync.Mutex
	var all sync.WaitGroup
	failed := make([]error, n)
	for i := range n {
		cmd := exec.Command(os.Args[2], os.Args[3:]...)
		cmd.Stderr = os.Stderr
		pipe, err := cmd.StdoutPipe()
		if err == nil {
			err = cmd.Start()
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 127
		}
		all.Go(func() {
			failed[i] = errors.Join(prefix(pipe, fmt.Sprintf("[%d] ", i), &console), cmd.Wait())
		})
	}
	all.Wait()
	if errors.Join(failed...) != nil {
		return 1
	}
	return 0
}

// prefix copies lines; those of the benchmarks are shorter than the buffer.
func prefix(pipe io.Reader, prefix string, console *sync.Mutex) error {
	buf, have := make([]byte, 64<<10), 0
	var out []byte
	for {
		n, err := pipe.Read(buf[have:])
		have += n
		rest := buf[:have]
		for out = out[:0]; ; {
			end := bytes.IndexByte(rest, '\n')
			if end < 0 {
				break
			}
			out = append(append(out, prefix...), rest[:end+1]...)
			rest = rest[end+1:]
		}
		if len(out) > 0 {
			console.Lock()
			_, failed := os.Stdout.Write(out)
			console.Unlock()
			if failed != nil {
				return failed
			}
		}
		have = copy(buf, rest)
		if err != nil {
			return nil // its end
		}
	}
}
