package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"lenslaunch/internal/openwork"
	"lenslaunch/internal/otelsetup"
	"lenslaunch/internal/rundir"
	"lenslaunch/internal/runview"
	"lenslaunch/journal"
	"lenslaunch/launcher"
)

func journalFlags() map[string][]flagSpec {
	return map[string][]flagSpec{
		"show": {{name: "format", arg: "text|json", initial: "text", help: "a tree for each process, or a JSON list"}},
		"recover": append(exportFlags(), flagSpec{name: "ended-at", arg: "TIME", cat: catTelemetry,
			help: "when the processes went, as in 2026-01-02T03:04:05Z (default: as far as their journals know)"}),
	}
}

// journal is `lenslaunch journal show|recover DIR`.
func (c *call) journal() (int, error) {
	if len(c.inv.words) == 0 {
		return launcher.ExitUsage, misuse("write journal show DIR or journal recover DIR", "journal needs a verb")
	}
	verb := c.inv.words[0]
	if verb == "--help" || verb == "-h" {
		return c.help()
	}
	do, ok := map[string]func(string, settings) (int, error){"show": c.journalShow, "recover": c.journalRecover}[verb]
	if !ok {
		return launcher.ExitUsage, misuse("write show or recover", "journal has no verb %q", verb)
	}
	table := journalFlags()[verb]
	inv := invocation{sub: "journal " + verb}
	var err error
	if inv.words, err = inv.takeFlags(c.inv.words[1:], append(table, globalFlags()...)); err != nil {
		return launcher.ExitUsage, err
	}
	sub := &call{env: c.env, std: c.std, inv: inv}
	dir, s, help, err := sub.runDirectory(table)
	if err != nil {
		return launcher.ExitUsage, err
	}
	if help {
		return c.help()
	}
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return launcher.ExitUsage, misuse("give the DIR of --log-dir, or the one that a warning named", "%s is no directory", dir)
	}
	return do(dir, s)
}

// journalShow is `lenslaunch journal show DIR`: what every process has open now.
func (c *call) journalShow(dir string, s settings) (int, error) {
	format, err := s.get("format").choice("text", "json")
	if err != nil {
		return launcher.ExitUsage, err
	}
	sites, elsewhere := openwork.Sites(dir)
	var all []runview.Open
	for _, site := range sites {
		entries, err := openwork.List(site.Home)
		elsewhere = errors.Join(elsewhere, err)
		for _, e := range entries {
			o := runview.Open{Entry: e}
			o.Journal, o.Problem = journal.Read(e.Path, journal.ReadOptions{})
			if errors.Is(o.Problem, fs.ErrNotExist) {
				continue // it has just been exported
			}
			o.Alive = o.Problem == nil && openwork.InUse(e.Path)
			all = append(all, o)
		}
	}
	code, err := c.showOpen(all, dir, format, elsewhere == nil)
	if err == nil && elsewhere != nil { // what is here is shown all the same
		code, err = exitNo, &launcher.Failure{Code: exitNo, Problem: oneLine(elsewhere.Error())}
	}
	return code, err
}

// showOpen prints what processes have open. whole: there is no more of it elsewhere.
func (c *call) showOpen(all []runview.Open, dir, format string, whole bool) (int, error) {
	if format == "json" {
		text, err := json.MarshalIndent(runview.OpenJSON(all, time.Now()), "", "  ")
		if err != nil {
			return launcher.ExitInternal, err
		}
		return c.print(string(text) + "\n")
	}
	if len(all) == 0 {
		if !whole {
			return launcher.ExitOK, nil
		}
		return c.print("no journals in " + dir + ": nothing runs there, or without telemetry\n")
	}
	return c.print(strings.Join(runview.OpenLines(all, time.Now()), "\n") + "\n")
}

// journalRecover is `lenslaunch journal recover DIR`: exports what processes had open
// whose launcher has gone.
func (c *call) journalRecover(dir string, s settings) (int, error) {
	e, err := readExport(s)
	if err != nil {
		return launcher.ExitUsage, err
	}
	// What an administrator makes there would keep the owner's next launcher out.
	if info, err := os.Stat(dir); err == nil && !openwork.Ours(info) {
		return exitNo, &launcher.Failure{Code: exitNo, Problem: "cannot recover: " + dir + " is another user's", Hint: "recover as its owner"}
	}
	o := openwork.Options{}
	if v := s.get("ended-at"); v.given {
		if o.At, err = time.Parse(time.RFC3339Nano, v.text); err != nil {
			return launcher.ExitUsage, v.wrong("write a time such as 2026-01-02T03:04:05Z", "is no time")
		}
	}
	sites, err := openwork.Sites(dir) // those that are here
	options := e.options(c.env)
	options.Stderr = c.std.Err
	if _, err := os.Stat(filepath.Join(dir, "run.json")); err == nil {
		options.Dir = dir
	} else if nodes, _ := filepath.Glob(filepath.Join(dir, "node-*")); len(nodes) > 0 {
		options.Dir = dir
	}
	var problems []string
	options.Warn = func(msg string, args ...any) {
		problems = append(problems, fmt.Sprint(append([]any{msg, " "}, args...)...))
	}
	t := otelsetup.Setup(context.Background(), options)
	if !t.Enabled {
		return exitNo, &launcher.Failure{Code: exitNo, Problem: strings.Join(append(problems,
			"cannot recover: there is nowhere to export to: set OTEL_EXPORTER_OTLP_ENDPOINT, or give --telemetry-file FILE"), "; ")}
	}
	ctx, cancel := context.WithTimeout(context.Background(), recoverTime)
	defer cancel()
	o.Export = func(ctx context.Context, work []openwork.Work) error { return exportAll(ctx, t, work) }
	var done openwork.Recovery
	for _, site := range sites {
		err = errors.Join(err, recoverSite(ctx, site, o, &done))
	}
	t.Shutdown("")
	return c.recovered(done, t.Where, err)
}

// recoverTime bounds a recovery: nobody waits longer for a collector at a prompt.
const recoverTime = 20 * time.Second

// recoverSite empties one directory of journals, and enters what it finds in the record
// of the run, where there is one.
func recoverSite(ctx context.Context, site openwork.Site, o openwork.Options, done *openwork.Recovery) error {
	entries, err := openwork.List(site.Home)
	if err != nil || len(entries) == 0 {
		return err
	}
	lock, err := openwork.Lock(site.Home)
	if err != nil {
		return fmt.Errorf("cannot recover: %w", err)
	}
	defer lock.Close()
	// Another may have been at it until now.
	if entries, err = openwork.List(site.Home); err != nil {
		return err
	}
	// A launcher that found the lock taken works without it for a while. Journals that
	// it has made for ranks which are about to open them look as if nobody needs them.
	if openwork.Attended(entries) {
		return fmt.Errorf("cannot recover: %w", openwork.ErrHeld)
	}
	var found []rundir.Found
	o.Note = func(w openwork.Work) {
		if w.Group != journal.LauncherGroup {
			found = append(found, rundir.Found{Attempt: w.Group, Rank: w.Rank, Doing: launcher.Doing(w)})
		}
	}
	r, err := openwork.Recover(ctx, entries, o)
	done.Processes += r.Processes
	done.Spans += r.Spans
	done.InUse = append(done.InUse, r.InUse...)
	done.Unreadable = append(done.Unreadable, r.Unreadable...)
	site.Tidy()
	return errors.Join(err, rundir.EnterFound(site.Dir, found))
}

// recovered says what was done.
func (c *call) recovered(r openwork.Recovery, where string, err error) (int, error) {
	var lines []string
	switch {
	case r.Spans > 0:
		lines = append(lines, fmt.Sprintf("recovered %d spans of %d processes, to %s", r.Spans, r.Processes, where))
	case err == nil:
		lines = append(lines, "nothing to recover")
	}
	for _, path := range r.InUse {
		lines = append(lines, "left alone: "+oneLine(path)+": a process still writes it")
	}
	for _, problem := range r.Unreadable {
		lines = append(lines, "left alone: "+oneLine(problem.Error()))
	}
	if len(lines) > 0 {
		if code, err := c.print(strings.Join(lines, "\n") + "\n"); err != nil {
			return code, err
		}
	}
	if err != nil {
		return exitNo, &launcher.Failure{Code: exitNo, Problem: oneLine(err.Error())}
	}
	return launcher.ExitOK, nil
}
