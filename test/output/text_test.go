//go:build output

package output

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
)

// lineLength includes the line end.
const lineLength = 100

// appendLine appends line n of a rank, which no other line of the job is equal to.
func appendLine(dst []byte, rank, n int) []byte {
	begin := len(dst)
	dst = fmt.Appendf(dst, "rank %d line %d ", rank, n)
	for len(dst)-begin < lineLength-1 {
		dst = append(dst, byte('a'+(len(dst)-begin)%26))
	}
	return append(dst, '\n')
}

// lines are the first so many bytes of a rank's lines.
func lines(rank, size int) []byte {
	var text []byte
	for n := 0; len(text) < size; n++ {
		text = appendLine(text, rank, n)
	}
	return text[:size]
}

// kind is a way to write.
type kind struct {
	name  string
	text  func(rank, size int) []byte
	block int  // bytes of a write
	keep  bool // its \r matter: the console must keep them all
}

// flags of the launcher under which the console gets all of it.
func (k kind) flags() []string {
	if k.keep {
		return []string{"--keep-cr"}
	}
	return nil
}

// kinds are those of the issue, beside lines and blocks.
var kinds = []kind{
	{"a byte at a time", lines, 1, false},
	{"no line end at the end", noEnd, 997, false},
	{"a line of 10 MB", longLine, 64 << 10, false},
	{"binary", binary, 3001, true},
	{"progress bars", bars, 61, true},
	{"UTF-8 cut across writes", unicodeLines, 7, false},
}

func noEnd(rank, size int) []byte { return append(lines(rank, size-size%lineLength), "the end"...) }

// longLine is one line of 10 MB of rank 0, so that all ranks together write about what
// they write otherwise; the others have ordinary lines.
func longLine(rank, size int) []byte {
	if rank != 0 {
		return lines(rank, size/100)
	}
	return append(bytes.Repeat([]byte("a very long line € "), 10<<20/21), '\n')
}

func binary(rank, size int) []byte {
	random := rand.NewChaCha8([32]byte{byte(rank)})
	text := make([]byte, size)
	_, _ = random.Read(text) // it never fails
	return text
}

func bars(rank, size int) []byte {
	var text []byte
	for n := 0; len(text) < size; n++ {
		text = fmt.Appendf(text, "\rrank %d %5d/%d |%-20s|", rank, n, size, strings.Repeat("█", n%21))
		if n%50 == 49 {
			text = append(text, '\n')
		}
	}
	return append(text, '\n')
}

func unicodeLines(rank, size int) []byte {
	var text []byte
	for n := 0; len(text) < size; n++ {
		text = fmt.Appendf(text, "rank %d zeile %d äöü € 日本語 😀 e\u0301\n", rank, n)
	}
	return text
}
