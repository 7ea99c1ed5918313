package cli

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"lenslaunch/internal/logmux"
	"lenslaunch/internal/rundir"
	"lenslaunch/internal/runview"
	"lenslaunch/internal/screen"
	"lenslaunch/launcher"
)

func logsFlags() []flagSpec {
	return []flagSpec{
		{name: "follow", short: "f", kind: isSwitch, cat: catOutput, help: "go on with what comes, over restarts, until the run ends"},
		{name: "rank", arg: "LIST", cat: catOutput, help: "ranks to show, as in 0,3-5 (default: all)"},
		{name: "attempt", arg: "N", cat: catOutput, help: "the only attempt to show: its number in the directory, or latest"},
		{name: "grep", arg: "RE", cat: catOutput, help: "lines to show: those that match a regular expression"},
	}
}

// logs is `lenslaunch logs DIR`: what the ranks of a run wrote, as one.
func (c *call) logs() (int, error) {
	dir, s, help, err := c.runDirectory(logsFlags())
	if err != nil {
		return launcher.ExitUsage, err
	}
	if help {
		return c.help()
	}
	l, err := c.readLogs(dir, s)
	if err != nil {
		return launcher.ExitUsage, err
	}
	follow, err := s.get("follow").yes()
	if err != nil {
		return launcher.ExitUsage, err
	}
	if follow {
		err = c.follow(l)
	} else {
		err = l.Show()
	}
	var none *runview.NoAttempt
	if errors.As(err, &none) {
		return launcher.ExitUsage, misuse("see lenslaunch report "+dir, "%v", err)
	}
	if err != nil {
		return exitNo, c.unreadable(dir, err)
	}
	return launcher.ExitOK, nil
}

func (c *call) readLogs(dir string, s settings) (*runview.Logs, error) {
	l := &runview.Logs{Dir: dir, Out: c.std.Out, Prefix: c.prefix(), Now: time.Now}
	var err error
	if v := s.get("rank"); v.given {
		if l.Pick, err = v.rankSet(); err != nil {
			return nil, err
		}
	}
	if v := s.get("grep"); v.given {
		if l.Grep, err = regexp.Compile(v.text); err != nil {
			return nil, misuse("", "%s %q: %v", v.from, v.text, err)
		}
	}
	if v := s.flagOnly("attempt"); v.given {
		if l.Attempt, err = attemptName(dir, v); err != nil {
			return nil, err
		}
	}
	return l, nil
}

// attemptName is an attempt's directory, by its number, its name or as the latest.
func attemptName(dir string, v setting) (string, error) {
	text := strings.TrimSpace(v.text)
	if text == "latest" {
		run, err := rundir.Read(dir)
		if run == nil {
			return "", (&call{}).unreadable(dir, err)
		}
		if n := len(run.Attempts); n > 0 {
			return run.Attempts[n-1].Name, nil
		}
		return "", misuse("wait for the first", "%s has no attempt yet", dir)
	}
	if name := rundir.Labelled(text); rundir.IsAttempt(name) {
		return name, nil
	}
	return "", v.wrong("write its number, as in 0, or latest", "is no attempt")
}

// rankSet reads ranks, as in "0,3-5". How many there are, the directory may not know
// yet.
func (v setting) rankSet() (func(rank int) bool, error) {
	spans, err := v.spans("ranks")
	if err != nil {
		return nil, err
	}
	return func(rank int) bool {
		for _, s := range spans {
			if uint64(rank) >= s.low && uint64(rank) <= s.high {
				return true
			}
		}
		return false
	}, nil
}

// prefix is what stands before the lines of a rank: as on the console, nothing where
// there is one rank only.
func (c *call) prefix() func(rank, world int) (first, further string) {
	return prefixes(screen.IsTerminal(c.std.Out) && logmux.Colored(c.env))
}

func prefixes(colour bool) func(rank, world int) (first, further string) {
	return func(rank, world int) (first, further string) {
		if world == 1 {
			return "", ""
		}
		name := fmt.Sprintf("[%*d]", len(strconv.Itoa(max(world-1, 0))), rank)
		first, further = name+" ", name+"+ "
		if colour {
			first, further = logmux.Painted(first, rank+1), logmux.Painted(further, rank+1)
		}
		return first, further
	}
}

// pace is the least time between two looks at a live run: lines come in batches, and
// nobody reads faster.
const pace = 100 * time.Millisecond

// follow shows a run until it ends, and says how.
func (c *call) follow(l *runview.Logs) error {
	watcher := rundir.NewWatcher(time.Second)
	defer watcher.Close()
	watched := map[string]bool{}
	run, err := l.Follow(context.Background(), func(ctx context.Context, dirs []string) {
		for _, dir := range dirs {
			if !watched[dir] {
				watched[dir] = true
				watcher.Add(dir)
			}
		}
		select {
		case <-ctx.Done():
		case <-watcher.C:
			pause(ctx, pace)
		}
	})
	if err != nil {
		return err
	}
	if l.Attempt == "" {
		fmt.Fprintln(c.std.Err, "lenslaunch:", runview.Ending(run, l.Dir))
	}
	return nil
}

// pause waits for a time, or until ctx ends.
func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}
