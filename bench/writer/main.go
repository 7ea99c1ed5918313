// Command writer is a rank of the output benchmarks: it writes BYTES bytes of 100-byte
// lines in writes of BLOCK bytes. Usage: writer BYTES BLOCK
package main

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
)

// lineLength includes the line end.
const lineLength = 100

func main() { os.Exit(run(os.Args[1:])) }

// run returns the exit code.
func run(args []string) int {
	left, block, ok := sizes(args)
	if !ok {
		fmt.Fprintln(os.Stderr, "usage: writer BYTES BLOCK")
		return 2
	}
	line := append(bytes.Repeat([]byte("x"), lineLength-1), '\n')
	text := bytes.Repeat(line, block/lineLength+2)
	for at := 0; left > 0; at = (at + block) % lineLength {
		n := min(block, left)
		if _, err := os.Stdout.Write(text[at : at+n]); err != nil {
			return 1
		}
		left -= n
	}
	return 0
}

func sizes(args []string) (left, block int, ok bool) {
	if len(args) != 2 {
		return 0, 0, false
	}
	left, err := strconv.Atoi(args[0])
	if err != nil {
		return 0, 0, false
	}
	block, err = strconv.Atoi(args[1])
	return left, block, err == nil && block >= 1
}
