//go:build output

package output

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
)

// The ranks are this test binary again.
const workVariable = "OUTPUT_WORK"

// work is what a rank does.
type work struct {
	Kind  int  // index of kinds; lineKind or blockKind
	Bytes int  // of each rank
	Die   bool // by SIGKILL, right after the last write
	Fails bool // says which attempt this is, and fails if it is the first

	Beat string // directory with the FIFOs of a training, empty: none
}

const (
	lineKind  = -1 // a write for each line
	blockKind = -2 // the same lines in writes of 4 KiB
)

func (w work) entry() string {
	text, err := json.Marshal(w)
	if err != nil {
		panic(err) // numbers, booleans and a path
	}
	return workVariable + "=" + string(text)
}

// do writes what w says to standard output.
func (w work) do() error {
	rank, err := strconv.Atoi(os.Getenv("RANK"))
	if err != nil {
		return fmt.Errorf("cannot read RANK: %w", err)
	}
	switch {
	case w.Beat != "":
		return beat(rank, w.Beat)
	case w.Kind == lineKind, w.Kind == blockKind:
		err = w.stream(rank)
	default:
		k := kinds[w.Kind]
		err = writeBlocks(k.text(rank, w.Bytes), k.block)
	}
	if err == nil && w.Fails {
		attempt := os.Getenv("LENSLAUNCH_ATTEMPT")
		fmt.Printf("attempt %s is over\n", attempt)
		if attempt == "0" {
			return errors.New("the first attempt fails")
		}
	}
	if err == nil && w.Die {
		err = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	}
	return err
}

// stream writes many lines without making them all first.
func (w work) stream(rank int) error {
	var text []byte
	for n := range w.Bytes / lineLength {
		text = appendLine(text, rank, n)
		switch {
		case w.Kind == lineKind:
			if _, err := os.Stdout.Write(text); err != nil {
				return err
			}
			text = text[:0]
		case len(text) >= 4<<10:
			if _, err := os.Stdout.Write(text[:4<<10]); err != nil {
				return err
			}
			text = append(text[:0], text[4<<10:]...)
		}
	}
	_, err := os.Stdout.Write(text)
	return err
}

func writeBlocks(text []byte, size int) error {
	for block := range slices.Chunk(text, size) {
		if _, err := os.Stdout.Write(block); err != nil {
			return err
		}
	}
	return nil
}

// beat writes a line for every byte that it reads, and says so when it is written.
func beat(rank int, dir string) error {
	orders, err := os.OpenFile(filepath.Join(dir, ordersName), os.O_RDONLY, 0)
	if err != nil {
		return err
	}
	done, err := os.OpenFile(filepath.Join(dir, doneName), os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	one := make([]byte, 1)
	for n := 0; ; n++ {
		if _, err := orders.Read(one); err != nil {
			return nil // no more orders
		}
		if _, err := os.Stdout.Write(appendLine(nil, rank, n)); err != nil {
			return err
		}
		if _, err := done.Write(one); err != nil {
			return err
		}
	}
}
