package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"lenslaunch/carrier"
	"lenslaunch/internal/guard"
	"lenslaunch/internal/openwork"
	"lenslaunch/internal/otelsetup"
	"lenslaunch/internal/wording"
	"lenslaunch/launcher"
)

// export is what flags say of where telemetry goes.
type export struct {
	mode    otelsetup.Mode
	file    string
	timeout time.Duration
}

func readExport(s settings) (export, error) {
	mode, err := s.get("telemetry").choice("auto", "on", "off")
	if err != nil {
		return export{}, err
	}
	e := export{mode: otelsetup.Mode(mode)}
	if v := s.get("telemetry-file"); v.given {
		if info, err := os.Stat(v.text); err == nil && info.IsDir() {
			return export{}, v.wrong("give a file", "is a directory")
		}
		e.file = v.text
	}
	e.timeout, err = s.get("telemetry-timeout").duration()
	e.timeout = max(e.timeout, lastLook) // 0 is as little as it can be, and not what is usual
	return e, err
}

// options are those of a run or of a recovery, without what describes it.
func (e export) options(env map[string]string) otelsetup.Options {
	return otelsetup.Options{Env: env, Mode: e.mode, File: e.file, Timeout: e.timeout}
}

// notices say something when the next event is told of.
type notices struct{ warn, debug func(msg string, args ...any) }

// observed is the telemetry of a run, on or off.
type observed struct {
	subscribers []launcher.Subscriber

	telemetry *otelsetup.Telemetry
	home      *openwork.Home   // nil: no journals
	keeper    *openwork.Keeper // nil: no telemetry
	lock      *os.File         // of the home
	say       notices

	recovering chan struct{}   // closed: what earlier launchers left has been looked after
	going      context.Context // until the run has ended
	over       context.CancelFunc
	stop       context.CancelFunc // ends what is still being recovered
	most       time.Duration      // that the end takes
}

// observe connects a run to where its telemetry goes. Whatever is wrong there, the run
// goes on without it.
func (c *call) observe(j *job, dir *launcher.RunDir, stderr io.Writer, say notices) *observed {
	o := j.export.options(c.env)
	o.Dir, o.Resource, o.Stderr, o.Warn = dir.NodePath(), c.resource(j), stderr, say.warn
	if o.StandsIn() {
		o.Warn = func(msg string, args ...any) { dir.Lost(spoken(msg, args)) }
	}
	seen := &observed{say: say, recovering: make(chan struct{}), most: cmp.Or(o.Timeout, otelsetup.DefaultTimeout)}
	seen.going, seen.over = context.WithCancel(context.Background())
	if o.Wanted() {
		seen.settle(&o, j.plan, dir)
	}
	seen.telemetry = otelsetup.Setup(context.Background(), o)
	ctx, stop := context.WithCancel(context.Background())
	seen.stop = stop
	if !seen.telemetry.Enabled && !seen.telemetry.Metered {
		close(seen.recovering)
		return seen
	}
	say.debug("telemetry goes to " + seen.telemetry.Where)
	seen.keeper = openwork.NewKeeper(seen.export)
	seen.telemetry.Rest = seen.rest
	spans := launcher.NewSpans(launcher.Telemetry{
		Tracer: seen.telemetry.Tracer, Meter: seen.telemetry.Meter, Parent: otelsetup.Parent(c.env), WithSpanID: otelsetup.WithSpanID,
		Truncate: seen.telemetry.Open.Truncate, Recover: seen.keeper.Add, Flush: seen.telemetry.Flush,
	}, j.plan, time.Now())
	// Metrics first: what an event flushes has them.
	seen.subscribers = []launcher.Subscriber{launcher.Metrics(seen.telemetry.Meter), spans.Event}
	if seen.home != nil {
		j.plan.Traced.Journals = seen.home.Dir
		if !seen.telemetry.Shown { // a guard has no console: for the next launcher they stay
			j.plan.Traced.Recovery = c.recovery(j.export, dir.NodePath(), seen.home.Dir)
		}
	}
	go seen.recoverLeftovers(ctx, dir)
	return seen
}

// settle finds a place for journals. The lock says that a launcher works there: should
// somebody else have it, they end soon, and it is tried again.
func (s *observed) settle(o *otelsetup.Options, p *launcher.Plan, dir *launcher.RunDir) {
	home, err := openwork.Settle(openwork.Place{
		Dir: o.Dir, Env: o.Env, Node: p.World.NodeRank, Run: p.RunID, Own: p.World.LocalSize + ownSpans,
	})
	if err != nil {
		err = fmt.Errorf("what ranks have open when they die will not be known: %w", err)
		if o.Dir != "" {
			dir.Lost(err)
		} else {
			s.say.warn(oneLine(err.Error()))
		}
		return
	}
	s.home, o.Journal = home, home.Own
	s.lock, _ = openwork.Lock(home.Dir)
	if home.Moved {
		s.say.debug("span journals are in " + home.Dir + ": the run directory is on no local file system")
	}
}

// spoken makes an error of what telemetry says of itself.
func spoken(msg string, args []any) error {
	for i := 0; i+1 < len(args); i += 2 {
		msg += fmt.Sprintf(", %v %v", args[i], args[i+1])
	}
	return errors.New(oneLine(msg))
}

// ownSpans is how many spans the launcher has open besides those of its workers.
const ownSpans = 8

// export exports what processes had open, with their own identity.
func (s *observed) export(ctx context.Context, work []openwork.Work) error {
	return exportAll(ctx, s.telemetry, work)
}

func exportAll(ctx context.Context, t *otelsetup.Telemetry, work []openwork.Work) error {
	var all []otelsetup.Foreign
	for _, w := range work {
		all = append(all, otelsetup.Foreign{Resource: w.Resource, SchemaURL: w.SchemaURL, Spans: w.Spans, End: w.End, Reason: w.Reason})
	}
	return t.Export(ctx, all...)
}

// recoverAgain is how often processes are looked at that outlived their launcher and its
// guard: this launcher ends them, but not before its first attempt.
const recoverAgain = 500 * time.Millisecond

// recoverLeftovers exports what was open when earlier launchers were killed.
func (s *observed) recoverLeftovers(ctx context.Context, dir *launcher.RunDir) {
	defer close(s.recovering)
	if s.home == nil {
		return
	}
	if s.lock == nil {
		// The guard of the launcher before may be at it.
		var err error
		if s.lock, err = openwork.Await(s.going, s.home.Dir); err != nil {
			return
		}
	}
	tick := time.NewTicker(recoverAgain)
	defer tick.Stop()
	for left := s.home.Leftovers; len(left) > 0; {
		ending := s.going.Err() != nil
		left = s.recoverOnce(ctx, left, dir)
		if ending {
			return
		}
		select {
		case <-tick.C:
		case <-s.going.Done(): // once more
		}
	}
}

// recoverOnce returns the journals that are still being written.
func (s *observed) recoverOnce(ctx context.Context, left []openwork.Entry, dir *launcher.RunDir) []openwork.Entry {
	r, err := openwork.Recover(ctx, left, openwork.Options{Export: s.export, Note: dir.Found})
	if r.Spans > 0 {
		s.say.debug("recovered what was open when an earlier launcher ended", "spans", r.Spans, "processes", r.Processes)
	}
	for _, problem := range r.Unreadable {
		s.say.warn("a journal is left as it is", "reason", oneLine(problem.Error()))
	}
	if err != nil && !errors.Is(err, context.Canceled) {
		s.say.debug("what earlier launchers left stays", "reason", oneLine(err.Error()))
	}
	return slices.DeleteFunc(left, func(e openwork.Entry) bool { return !slices.Contains(r.InUse, e.Path) })
}

// rest exports what processes had open, as far as it has not been, and says what stays of
// this launcher's.
func (s *observed) rest(ctx context.Context) otelsetup.Kept {
	s.over()
	left := s.keeper.Close(ctx)
	select {
	case <-s.recovering:
	case <-ctx.Done():
	}
	kept := otelsetup.Kept{Spans: left.Spans, Cause: left.Cause}
	if s.home != nil {
		kept.How = "lenslaunch journal recover " + wording.ShellWord(s.home.Dir)
	}
	return kept
}

// lastLook is what the end takes at least: to remove what is empty.
const lastLook = 100 * time.Millisecond

// end ends telemetry, in the time that it has. A file that cannot be written, because its
// file system hangs, does not keep the launcher: what stays then is found by the next one.
func (s *observed) end(reason string) {
	began := time.Now()
	s.telemetry.Shutdown(reason)
	s.over()
	s.stop()
	done := make(chan struct{})
	go func() {
		defer close(done)
		<-s.recovering
		if s.home != nil {
			s.home.Close()
		}
		if s.lock != nil {
			s.lock.Close()
		}
	}()
	timer := time.NewTimer(max(lastLook, s.most-time.Since(began)))
	defer timer.Stop()
	select {
	case <-done:
	case <-timer.C:
	}
}

// recovery is how the guard exports what is left when this launcher is killed: by this
// program, with what it needs of the environment and nothing else.
func (c *call) recovery(e export, dir, home string) launcher.Recovery {
	r := launcher.Recovery{Args: []string{"journal", "recover", "--ended-at", guard.Ended, "--telemetry", string(e.mode)}}
	if file, err := filepath.Abs(e.file); e.file != "" && err == nil {
		r.Args = append(r.Args, "--telemetry-file", file)
	}
	if dir == "" {
		dir = home
	}
	r.Args = append(r.Args, "--", dir)
	for _, key := range []string{"HOME", "PATH", "TMPDIR", "TZ", "XDG_RUNTIME_DIR"} {
		if value, ok := c.env[key]; ok {
			r.Env = append(r.Env, key+"="+value)
		}
	}
	for key, value := range c.env {
		if exports(key) {
			r.Env = append(r.Env, key+"="+fromHere(key, value))
		}
	}
	slices.Sort(r.Env)
	return r
}

// exports reports whether a variable may be about where telemetry goes. What describes the
// workload is not, and may be larger than the pipe to a guard that has just been started.
func exports(key string) bool {
	upper := strings.ToUpper(key)
	if upper == carrier.Variable || upper == "OTEL_SERVICE_NAME" {
		return false
	}
	for _, prefix := range []string{"OTEL_", "NEMO_LENS_", "SSL_CERT_", "GRPC_"} {
		if strings.HasPrefix(upper, prefix) {
			return true
		}
	}
	return strings.HasSuffix(upper, "_PROXY")
}

// fromHere makes the path of a certificate one that is right in any directory: the guard
// is in none of ours.
func fromHere(key, value string) string {
	upper := strings.ToUpper(key)
	for _, suffix := range []string{"_CERTIFICATE", "_CLIENT_KEY", "SSL_CERT_FILE"} {
		if !strings.HasSuffix(upper, suffix) || strings.TrimSpace(value) == "" {
			continue
		}
		if path, err := filepath.Abs(strings.TrimSpace(value)); err == nil {
			return path
		}
	}
	return value
}
