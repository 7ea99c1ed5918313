//go:build output

package output

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"testing"
)

// mark reads the prefix of a console line: the rank, and whether the line goes on with
// one of that rank's before.
func mark(line []byte) (rank int, more bool, rest []byte, err error) {
	if len(line) < 4 || line[0] != '[' || line[1] < '0' || line[1] >= '0'+ranks || line[2] != ']' {
		return 0, false, nil, fmt.Errorf("no rank in front of %.60q", line)
	}
	rank, rest = int(line[1]-'0'), line[3:]
	if rest[0] == '+' {
		more, rest = true, rest[1:]
	}
	if len(rest) == 0 || rest[0] != ' ' {
		return 0, false, nil, fmt.Errorf("no rank in front of %.60q", line)
	}
	return rank, more, rest[1:], nil
}

// rejoin undoes what the console adds: what remains is what each rank wrote.
func rejoin(console []byte) ([ranks][]byte, error) {
	var text [ranks][]byte
	for line := range bytes.Lines(console) {
		rank, more, rest, err := mark(line)
		if err != nil {
			return text, err
		}
		if more {
			text[rank] = bytes.TrimSuffix(text[rank], []byte{'\n'})
		}
		text[rank] = append(text[rank], rest...)
	}
	return text, nil
}

func TestRejoin(t *testing.T) {
	text, err := rejoin([]byte("[0] a\n[1] b\n[0]+ c\n[0] d\n"))
	if err != nil || string(text[0]) != "ac\nd\n" || string(text[1]) != "b\n" {
		t.Errorf("%q, %v", text, err)
	}
	for _, bad := range []string{"a\n", "[9] a\n", "[0]a\n", "[0]+a\n", "[0\n", "\n", "x[0] a\n"} {
		if _, err := rejoin([]byte(bad)); err == nil {
			t.Errorf("%q has a prefix", bad)
		}
	}
}

// countLines reads a console on which each rank writes lines, and checks each of them:
// whole, in order, none missing. It reads to the end, so that the job comes to one.
func countLines(r io.Reader, each int) error {
	err := checkLines(r, each)
	if _, failed := io.Copy(io.Discard, r); err == nil && failed != nil {
		err = fmt.Errorf("cannot read the console: %w", failed)
	}
	return err
}

func checkLines(r io.Reader, each int) error {
	in := bufio.NewReaderSize(r, 1<<20)
	var next [ranks]int
	var want []byte
	for {
		line, err := in.ReadSlice('\n')
		if errors.Is(err, io.EOF) && len(line) == 0 {
			break
		}
		if err != nil {
			return fmt.Errorf("cannot read the console: %w", err)
		}
		rank, more, rest, err := mark(line)
		if err != nil {
			return err
		}
		want = appendLine(want[:0], rank, next[rank])
		if more || !bytes.Equal(rest, want) {
			return fmt.Errorf("%q instead of line %d of rank %d", line, next[rank], rank)
		}
		next[rank]++
	}
	for rank, n := range next {
		if n != each {
			return fmt.Errorf("rank %d: %d lines of %d", rank, n, each)
		}
	}
	return nil
}
