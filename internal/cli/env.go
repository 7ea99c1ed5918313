package cli

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"lenslaunch/carrier"
	"lenslaunch/internal/wording"
	"lenslaunch/launcher"
)

// envFlags are those of `lenslaunch env`: all of a run's, and a format.
func envFlags() []flagSpec {
	return append(runFlags(), flagSpec{
		name: "format", arg: "json|shell|table", initial: "table", cat: catMessages, help: "form of what `lenslaunch env` prints",
	})
}

// showEnv is `lenslaunch env`: what each rank would get, without starting anything.
func (c *call) showEnv() (int, error) {
	s, err := c.settings(envFlags())
	if err != nil {
		return launcher.ExitUsage, err
	}
	format, err := s.get("format").choice("json", "shell", "table")
	if err != nil {
		return launcher.ExitUsage, err
	}
	j, err := c.plan(s, c.inv.words)
	if err != nil {
		return launcher.ExitUsage, err
	}
	return c.showPlan(j.plan, format)
}

// showPlan prints a plan for its next attempt.
func (c *call) showPlan(p *launcher.Plan, format string) (int, error) {
	for _, warning := range p.Warnings {
		fmt.Fprintln(c.std.Err, "lenslaunch: warning:", oneLine(warning))
	}
	next, err := p.NextAttempt()
	if err != nil {
		return launcher.ExitUsage, err
	}
	var shown []shownRank
	for local := range p.World.LocalSize {
		w, err := p.Worker(local, next)
		if err != nil {
			return launcher.ExitUsage, err
		}
		shown = append(shown, show(p, w))
	}
	switch format {
	case "json":
		text, err := json.MarshalIndent(shown, "", "  ")
		if err != nil {
			return launcher.ExitInternal, fmt.Errorf("cannot write JSON: %w", err)
		}
		return c.print(string(text) + "\n")
	case "shell":
		return c.print(shellText(shown))
	}
	return c.print(tableText(p, shown))
}

// shownRank is one element of `env --format json`: only what the launcher sets or
// changes, never the inherited environment.
type shownRank struct {
	Rank    int               `json:"rank"`
	Command []string          `json:"command"`
	Dir     string            `json:"dir,omitempty"`
	Env     map[string]string `json:"env"`
	Unset   []string          `json:"unset,omitempty"`
	Why     []string          `json:"why"`
}

func show(p *launcher.Plan, w launcher.Worker) shownRank {
	r := shownRank{Rank: w.Rank, Command: p.Command, Dir: w.Dir, Env: maps.Clone(w.Set), Why: p.Why}
	if r.Command == nil {
		r.Command = []string{}
	}
	r.Env[carrier.Variable], _ = carrier.Format(w.Carrier)
	for _, key := range w.Unset {
		if _, inherited := p.Env[key]; inherited {
			r.Unset = append(r.Unset, key)
		}
	}
	return r
}

// shellText is a block of export lines per rank, to be taken apart by comment or
// used whole for a single rank.
func shellText(shown []shownRank) string {
	var b strings.Builder
	for _, r := range shown {
		fmt.Fprintf(&b, "# rank %d\n", r.Rank)
		for _, key := range r.Unset {
			fmt.Fprintf(&b, "unset %s\n", key)
		}
		for _, key := range slices.Sorted(maps.Keys(r.Env)) {
			if !shellName(key) {
				fmt.Fprintf(&b, "# %s is set too, but has no name for a shell\n", key)
				continue
			}
			fmt.Fprintf(&b, "export %s=%s\n", key, wording.ShellQuote(r.Env[key]))
		}
	}
	return b.String()
}

// shellName reports whether a shell can hold a variable of that name: a.b is one to
// the kernel, not to a shell.
func shellName(key string) bool {
	for i, c := range key {
		letter := c == '_' || 'A' <= c && c <= 'Z' || 'a' <= c && c <= 'z'
		if !letter && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return key != ""
}

// tableText is for people: the decisions, what is the same on all ranks, and what
// differs.
func tableText(p *launcher.Plan, shown []shownRank) string {
	var b strings.Builder
	b.WriteString("why\n")
	for _, why := range p.Why {
		fmt.Fprintf(&b, "  %s\n", why)
	}
	same := maps.Clone(shown[0].Env)
	maps.DeleteFunc(same, func(key, value string) bool {
		return slices.ContainsFunc(shown, func(r shownRank) bool { return r.Env[key] != value })
	})
	b.WriteString("every rank\n")
	writeVariables(&b, same)
	for _, key := range shown[0].Unset {
		fmt.Fprintf(&b, "  %s is taken away\n", key)
	}
	for _, r := range shown {
		fmt.Fprintf(&b, "rank %d\n", r.Rank)
		own := maps.Clone(r.Env)
		maps.DeleteFunc(own, func(key, _ string) bool { _, ok := same[key]; return ok })
		writeVariables(&b, own)
	}
	return b.String()
}

// writeVariables writes variables in order, a carrier as one entry per line.
func writeVariables(b *strings.Builder, env map[string]string) {
	for _, key := range slices.Sorted(maps.Keys(env)) {
		if key != carrier.Variable {
			fmt.Fprintf(b, "  %s=%s\n", key, oneLine(env[key]))
			continue
		}
		fmt.Fprintf(b, "  %s\n", key)
		for _, entry := range strings.Split(env[key], ",") {
			fmt.Fprintf(b, "    %s\n", entry)
		}
	}
}
