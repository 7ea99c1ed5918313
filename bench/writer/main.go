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

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: writer BYTES BLOCK")
		os.Exit(2)
	}
	left, err := strconv.Atoi(os.Args[1])
	block, failed := strconv.Atoi(os.Args[2])
	if err != nil || failed != nil || block < 1 {
		fmt.Fprintln(os.Stderr, "usage: writer BYTES BLOCK")
		os.Exit(2)
	}
	line := append(bytes.Repeat([]byte("x"), lineLength-1), '\n')
	text := bytes.Repeat(line, block/lineLength+2)
	for at := 0; left > 0; at = (at + block) % lineLength {
		n := min(block, left)
		if _, err := os.Stdout.Write(text[at : at+n]); err != nil {
			os.Exit(1)
		}
		left -= n
	}
}
