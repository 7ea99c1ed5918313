//go:build output

package output

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"lenslaunch/internal/logmux"
)

// The program that uses the package is this test binary again.
const muxVariable = "OUTPUT_MUX"

// mux is a launcher that can do nothing but output.
type mux struct {
	Ranks  int
	KeepCR bool
	Dir    string        // of the ranks' files, empty: none; fullDisk: it takes nothing
	Holds  time.Duration // see logmux.Stream
	Orders bool          // rank 0 has descriptors 3 and 4 of this process
}

func (m mux) entry() string {
	text, err := json.Marshal(m)
	if err != nil {
		panic(err) // numbers, booleans and a path
	}
	return muxVariable + "=" + string(text)
}

// do runs the ranks with their output on this process's, and returns when all of it
// has come.
func (m mux) do() error {
	if err := os.Unsetenv(muxVariable); err != nil {
		return err
	}
	// A console that goes away is an error of the write, as in the launcher.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	out, _ := logmux.Options{
		Env: map[string]string{"TERM": "xterm", "NO_COLOR": "1"}, KeepCR: m.KeepCR,
		Lost: func(name string, cause error) { fmt.Fprintf(os.Stderr, "lost %s: %v\n", name, cause) },
	}.Sinks(os.Stdout, os.Stderr)
	var streams logmux.Mux
	var ranks []*exec.Cmd
	for rank := range m.Ranks {
		cmd, err := m.start(&streams, out, rank)
		if err != nil {
			return fmt.Errorf("cannot start rank %d: %w", rank, err)
		}
		ranks = append(ranks, cmd)
	}
	if cut := streams.Drain(10 * time.Minute); cut != 0 {
		return fmt.Errorf("%d streams were cut off, %d bytes unread", cut, streams.Unread())
	}
	failed := error(nil)
	for _, cmd := range ranks {
		if err := cmd.Wait(); err != nil {
			failed = err
		}
	}
	return failed
}

func (m mux) start(streams *logmux.Mux, out *logmux.Sink, rank int) (*exec.Cmd, error) {
	s := logmux.Stream{To: out, Holds: m.Holds}
	template, err := logmux.ParseTemplate(logmux.DefaultTemplate)
	if err != nil {
		return nil, err
	}
	template.Label(&s, logmux.Place{Rank: rank, World: m.Ranks})
	if m.Dir != "" {
		file, err := m.file(rank)
		if err != nil {
			return nil, err
		}
		s.File, s.Where = file, "FILE"
		s.FileLost = func(cause error) { fmt.Fprintf(os.Stderr, "lost the file of rank %d: %v\n", rank, cause) }
	}
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer w.Close()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "RANK="+strconv.Itoa(rank))
	cmd.Stdout, cmd.Stderr = w, os.Stderr
	if m.Orders {
		cmd.ExtraFiles = []*os.File{os.NewFile(3, "orders"), os.NewFile(4, "done")}
	}
	if err := cmd.Start(); err != nil {
		r.Close()
		return nil, err
	}
	streams.Add(r, s)
	return cmd, nil
}

// fullDisk is a directory on a disk that is full.
const fullDisk = "a full disk"

func (m mux) file(rank int) (*os.File, error) {
	if m.Dir == fullDisk {
		return os.OpenFile("/dev/full", os.O_WRONLY, 0)
	}
	return os.Create(filepath.Join(m.Dir, strconv.Itoa(rank)))
}
