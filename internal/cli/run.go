package cli

import (
	"context"
	"log/slog"
	"os"
	"strconv"
	"sync"

	"go.opentelemetry.io/otel/attribute"

	"lenslaunch/detect"
	"lenslaunch/internal/cpus"
	"lenslaunch/internal/logmux"
	"lenslaunch/launcher"
	"lenslaunch/ranks"
)

// gpuCount answers how many GPUs the ranks may use, and whether that is known.
type gpuCount func() (n int, known bool)

// job is a planned run with what the command line says about its messages.
type job struct {
	plan   *launcher.Plan
	host   detect.Host // with its GPUs: nobody asks twice
	level  slog.Level
	format string
	keepCR bool
	export export // where telemetry goes
}

// plan reads flags, finds out where this node stands and decides the run.
func (c *call) plan(s settings, command []string) (*job, error) {
	j := &job{}
	var err error
	if j.level, j.format, err = readMessages(s); err != nil {
		return nil, err
	}
	host := detect.SystemHost()
	// One query for all; asked for only once the flags have been found right.
	gpus := sync.OnceValue(func() detect.GPUSet { return detect.GPUs(context.Background(), host) })
	config, err := config(s, command, func() (int, bool) { return gpus().Usable(c.env) })
	if err != nil {
		return nil, err
	}
	config.Request.Args = c.typed(command)
	if name, err := os.Hostname(); err == nil {
		config.Request.Host = name
	}
	config.Request.Program = func() string {
		self, _ := os.Executable() // empty: it cannot be told
		return program(c.env["PATH"], self)
	}
	world, err := ranks.Resolve(config.Request, c.env)
	if err != nil {
		return nil, err
	}
	c.stepBudget(s, &config, &world)
	if err := systemCapacity().thinkable(world, s.get("nproc").from); err != nil {
		return nil, err
	}
	if config.Output, err = readOutput(s, world); err != nil {
		return nil, err
	}
	if config.Logs, err = readLogs(s, world); err != nil {
		return nil, err
	}
	if j.keepCR, err = s.get("keep-cr").yes(); err != nil {
		return nil, err
	}
	if j.export, err = readExport(s); err != nil {
		return nil, err
	}
	j.host = host.WithGPUs(gpus())
	j.plan, err = launcher.NewPlan(context.Background(), config, world, launcher.Facts{
		Host: j.host, GPUs: gpus(), CPUs: cpus.Usable(os.DirFS("/")), UID: os.Getuid(),
	})
	return j, err
}

// run is `lenslaunch [run] [flags] COMMAND`.
func (c *call) run() (int, error) {
	s, err := c.settings(runFlags())
	if err != nil {
		return launcher.ExitUsage, err
	}
	dry, err := s.get("dry-run").yes()
	if err != nil {
		return launcher.ExitUsage, err
	}
	if len(c.inv.words) == 0 {
		return launcher.ExitUsage, misuse("write it behind the flags, as in `lenslaunch --nproc 8 -- python train.py`; see lenslaunch help",
			"no command to run")
	}
	j, err := c.plan(s, c.inv.words)
	if err != nil {
		return launcher.ExitUsage, err
	}
	if dry {
		return c.showPlan(j.plan, "table")
	}
	if err := j.plan.Reachable(); err != nil {
		return launcher.ExitUsage, err
	}
	if err := systemCapacity().startable(j.plan.World, s.get("nproc").from); err != nil {
		return launcher.ExitUsage, err
	}
	return c.launch(j)
}

// launch carries a plan out.
func (c *call) launch(j *job) (int, error) {
	var log *slog.Logger
	out, errs := logmux.Options{Env: c.env, KeepCR: j.keepCR, Lost: func(name string, cause error) {
		log.Warn("the console has gone; the job goes on without it", "stream", name, "cause", cause)
	}}.Sinks(c.std.Out, c.std.Err)
	log = newLogger(errs, j.format, j.level)
	dir, err := launcher.OpenRunDir(j.plan, Version, func(cause error) { log.Warn(cause.Error()) })
	if err != nil {
		return launcher.ExitUsage, err
	}
	if err := j.plan.PrepareLedger(); err != nil {
		dir.Close()
		return launcher.ExitUsage, err
	}
	signals, stop := listen(j.plan.Passed())
	defer stop()
	defer dir.Close() // before stop: a signal now must not cut the record short
	aside := &asides{}
	for _, why := range j.plan.Why {
		aside.later(func() { log.Debug(why) })
	}
	for _, warning := range j.plan.Warnings {
		aside.later(func() { log.Warn(warning) })
	}
	seen := c.observe(j, dir, errs, notices{warn: aside.warn(log.Warn), debug: aside.warn(log.Debug)})
	// A report is the last thing on the screen, so messages come after spans.
	told := append(seen.subscribers, aside.before(messages(log, j.plan, errs, j.format)))
	code, err := launcher.Run(j.plan, launcher.Console{
		In: c.std.In, Out: out, Err: errs, OutFile: c.std.Out, ErrFile: c.std.Err, Dir: dir,
	}, signals, told...)
	seen.end("the launcher ended with exit code " + itoa(code))
	aside.end(lastAside)
	return code, err
}

// resource describes the launcher's own process.
func (c *call) resource(j *job) []attribute.KeyValue {
	return j.plan.LauncherResource(detect.Resource(context.Background(), c.env, j.host, nil), Version)
}

func readMessages(s settings) (slog.Level, string, error) {
	quiet, err := s.get("quiet").yes()
	if err != nil {
		return 0, "", err
	}
	verbose, err := s.get("verbose").yes()
	if err != nil {
		return 0, "", err
	}
	format, err := s.get("log-format").choice("text", "json")
	if err != nil {
		return 0, "", err
	}
	switch {
	case quiet && verbose:
		return 0, "", misuse("give one of them", "--quiet and --verbose contradict each other")
	case quiet:
		return slog.LevelError, format, nil
	case verbose:
		return slog.LevelDebug, format, nil
	}
	return slog.LevelInfo, format, nil
}

func itoa(n int) string { return strconv.Itoa(n) }
