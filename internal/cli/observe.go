package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"lenslaunch/internal/guard"
	"lenslaunch/internal/openwork"
	"lenslaunch/internal/otelsetup"
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

	recovering chan struct{} // closed: what earlier launchers left has been looked after
	stop       context.CancelFunc
}

// observe connects a run to where its telemetry goes. Whatever is wrong there, the run
// goes on without it.
func (c *call) observe(j *job, dir *launcher.RunDir, stderr io.Writer, say notices) *observed {
	o := j.export.options(c.env)
	o.Dir, o.Resource, o.Stderr, o.Warn = dir.NodePath(), c.resource(j), stderr, say.warn
	if o.StandsIn() {
		o.Warn = func(msg string, args ...any) { dir.Lost(spoken(msg, args)) }
	}
	seen := &observed{say: say, recovering: make(chan struct{})}
	if o.Wanted() {
		seen.settle(&o, j.plan, dir)
	}
	seen.telemetry = otelsetup.Setup(context.Background(), o)
	ctx, stop := context.WithCancel(context.Background())
	seen.stop = stop
	if !seen.telemetry.Enabled {
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
		j.plan.Traced.Recovery = c.recovery(j.export, dir.NodePath(), seen.home.Dir)
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

// recoverLeftovers exports what was open when earlier launchers were killed.
func (s *observed) recoverLeftovers(ctx context.Context, dir *launcher.RunDir) {
	defer close(s.recovering)
	if s.home == nil {
		return
	}
	if s.lock == nil {
		// The guard of the launcher before may be at it.
		var err error
		if s.lock, err = openwork.Await(ctx, s.home.Dir); err != nil {
			return
		}
	}
	if len(s.home.Leftovers) == 0 {
		return
	}
	r, err := openwork.Recover(ctx, s.home.Leftovers, openwork.Options{Export: s.export, Note: dir.Found})
	if r.Spans > 0 {
		s.say.debug("recovered what was open when an earlier launcher ended", "spans", r.Spans, "processes", r.Processes)
	}
	for _, problem := range r.Unreadable {
		s.say.warn("a journal is left as it is", "reason", oneLine(problem.Error()))
	}
	if err != nil && !errors.Is(err, context.Canceled) {
		s.say.debug("what earlier launchers left stays", "reason", oneLine(err.Error()))
	}
}

// rest exports what workers had open, as far as it has not been, and says what stays.
func (s *observed) rest(ctx context.Context) otelsetup.Kept {
	left := s.keeper.Close(ctx)
	kept := otelsetup.Kept{Spans: left.Spans, Cause: left.Cause}
	if s.home != nil {
		kept.How = "lenslaunch journal recover " + s.home.Dir
	}
	return kept
}

// end ends telemetry, in the time that it has.
func (s *observed) end(reason string) {
	s.telemetry.Shutdown(reason)
	s.stop()
	<-s.recovering
	if s.home != nil {
		s.home.Close()
	}
	if s.lock != nil {
		s.lock.Close()
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
			r.Env = append(r.Env, key+"="+value)
		}
	}
	slices.Sort(r.Env)
	return r
}

// exports reports whether a variable may be about where telemetry goes.
func exports(key string) bool {
	upper := strings.ToUpper(key)
	for _, prefix := range []string{"OTEL_", "NEMO_LENS_", "SSL_CERT_", "GRPC_"} {
		if strings.HasPrefix(upper, prefix) {
			return true
		}
	}
	return strings.HasSuffix(upper, "_PROXY")
}
