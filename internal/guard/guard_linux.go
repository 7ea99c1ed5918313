package guard

import (
	"context"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"lenslaunch/internal/cgroup"
	"lenslaunch/internal/ledger"
	"lenslaunch/internal/proc"
	"lenslaunch/internal/tree"
)

// Main is the guard's whole program; it returns its exit code.
func Main() int {
	// From here on nothing but its launcher's end ends a guard, short of SIGKILL. In the
	// milliseconds before, Go's runtime lets no program be deaf to SIGTERM: a guard that
	// dies then is replaced.
	signal.Ignore(syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM, syscall.SIGUSR1, syscall.SIGUSR2,
		syscall.SIGPIPE, syscall.SIGALRM, syscall.SIGTSTP, syscall.SIGTTIN, syscall.SIGTTOU)
	closeInherited()
	pipe := os.NewFile(pipeFD, "launcher")
	if pipe == nil {
		return 2
	}
	return serve(pipe)
}

// serve waits for the launcher's end and does what is left to do.
func serve(launcher io.Reader) int {
	// A garbled line is the launcher's death in the middle of it: what came before
	// stands, so the error changes nothing.
	watch, bye, _ := read(launcher)
	if bye {
		return 0
	}
	gone := time.Now()
	ctx, cancel := context.WithTimeout(context.Background(), endTime)
	defer cancel()
	empty := watch.Attempt == nil || end(ctx, watch)
	last(ctx, watch.Last, gone)
	if !empty {
		return 1
	}
	return 0
}

// endTime bounds it all: a process in uninterruptible sleep is left to the next
// launcher of the run.
const endTime = 30 * time.Second

// end ends an attempt whose launcher is gone. It reports whether nothing is left.
func end(ctx context.Context, w Watch) bool {
	a := w.Attempt
	if a.Cgroup != "" {
		endGroup(ctx, a.Cgroup)
	}
	finder := a.Finder
	// The launcher is gone: its pid means nothing any more, and process 1 reaps what it
	// had not.
	finder.Root, finder.Leaders, finder.Pinned = proc.ID{}, w.Leaders, w.Reaped
	if finder.Pinned == 0 {
		// Unknown leaves the rest of what tells a process of ours.
		finder.Pinned, _ = proc.Now()
	}
	result := tree.Sweep(ctx, finder, nil)
	for _, dir := range a.Remove {
		// Private directories of the attempt; what cannot be removed is in the temp
		// directory, named and private.
		_ = os.RemoveAll(dir)
	}
	note(ctx, a.Ledger)
	return result.Empty()
}

// last runs what is to be done when all is over, as far as time allows. Nobody is there
// to be told of its end.
func last(ctx context.Context, c *Command, gone time.Time) {
	if c == nil {
		return
	}
	cmd := exec.CommandContext(ctx, "/proc/self/exe")
	cmd.Args, cmd.Env, cmd.Dir = []string{"lenslaunch"}, c.Env, "/"
	for _, arg := range c.Args {
		cmd.Args = append(cmd.Args, strings.ReplaceAll(arg, Ended, gone.Format(time.RFC3339Nano)))
	}
	_ = cmd.Run()
}

// endGroup ends a control group. What it cannot do the sweep does, or reports.
func endGroup(ctx context.Context, path string) {
	g, err := cgroup.Open(path)
	if err != nil {
		return
	}
	defer g.Close()
	if g.Kill() == nil && g.WaitEmpty(ctx) == nil {
		_ = g.Remove()
	}
}

// note enters the attempt's end in the ledger. Without it the attempt shows as ended
// unknown, which is true as well.
func note(ctx context.Context, e *Entry) {
	if e == nil {
		return
	}
	if book, err := ledger.Open(e.Dir, e.File); err == nil {
		_ = book.End(ctx, e.UUID, "unknown: the launcher was killed, its guard ended the attempt")
	}
}
