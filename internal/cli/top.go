package cli

import (
	"context"
	"fmt"
	"strings"
	"syscall"
	"time"

	"lenslaunch/detect"
	"lenslaunch/internal/runview"
	"lenslaunch/internal/screen"
	"lenslaunch/launcher"
)

func topFlags() []flagSpec {
	return []flagSpec{
		{name: "count", short: "n", arg: "N", cat: catOutput, help: "print the table N times instead of showing it live (default without a terminal: 1)"},
		{name: "interval", arg: "D", initial: "1s", cat: catOutput, help: "from one look to the next"},
	}
}

// leastInterval keeps a slip of the hand from loading the machine that is looked at.
const leastInterval = 100 * time.Millisecond

// top is `lenslaunch top DIR`: what the ranks of a run are doing.
func (c *call) top() (int, error) {
	dir, s, help, err := c.runDirectory(topFlags())
	if err != nil {
		return launcher.ExitUsage, err
	}
	if help {
		return c.help()
	}
	interval, err := s.get("interval").duration()
	if err != nil {
		return launcher.ExitUsage, err
	}
	interval = max(interval, leastInterval)
	count, live := 1, screen.IsTerminal(c.std.Out)
	if v := s.get("count"); v.given {
		live = false
		if count, err = v.integer(1, 1<<30, "--count 1"); err != nil {
			return launcher.ExitUsage, err
		}
	}
	gpus := &gpuUse{ask: func(ctx context.Context) (map[int]int64, error) { return detect.GPUProcesses(ctx, detect.SystemHost()) }}
	sampler := runview.NewSampler(dir, gpus.now)
	if !live {
		gpus.wait = true
		return c.printTables(dir, sampler.Sample, count, interval)
	}
	defer gpus.close()
	code, err := c.watchTable(sampler.Sample, interval)
	if err != nil {
		return exitNo, c.unreadable(dir, err)
	}
	return code, nil
}

// printTables prints a table so many times.
func (c *call) printTables(dir string, sample func() (runview.Snapshot, error), count int, interval time.Duration) (int, error) {
	for i := range count {
		if i > 0 {
			pause(context.Background(), interval)
		}
		shot, err := sample()
		if err != nil {
			return exitNo, c.unreadable(dir, err)
		}
		text := strings.Join(runview.Table(shot, runview.Look{Columns: screen.Columns(c.std.Out)}), "\n") + "\n"
		if i > 0 {
			text = "\n" + text
		}
		if code, err := c.print(text); err != nil {
			return code, err
		}
	}
	return launcher.ExitOK, nil
}

// watchTable shows a live table on the terminal. However it ends, the terminal is as it
// was, with one line about the run.
func (c *call) watchTable(sample func() (runview.Snapshot, error), interval time.Duration) (int, error) {
	// A directory that cannot be read is said on the terminal as it is.
	if _, err := sample(); err != nil {
		return exitNo, err
	}
	// Handlers first: a signal in between would leave the terminal as it is then.
	signals, stop := listen([]syscall.Signal{syscall.SIGWINCH})
	defer stop()
	terminal, err := screen.Open(c.std.Out)
	if err != nil {
		return exitNo, err
	}
	defer terminal.Close() // also in a panic
	v := &view{Screen: terminal, continued: make(chan struct{}, 1), moves: make(chan runview.Move), done: make(chan struct{})}
	last, err := v.watch(sample, signals, interval)
	if closed := terminal.Close(); err == nil && v.ended == 0 {
		err = closed
	}
	switch {
	case v.ended == syscall.SIGHUP: // a terminal that has gone reads no last words
	case last != "":
		_, _ = fmt.Fprintln(c.std.Out, last)
	}
	if v.ended != 0 {
		return 128 + int(v.ended), nil
	}
	return launcher.ExitOK, err
}
