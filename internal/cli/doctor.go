package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"lenslaunch/detect"
	"lenslaunch/internal/address"
	"lenslaunch/internal/doctor"
	"lenslaunch/internal/otelsetup"
	"lenslaunch/internal/port"
	"lenslaunch/internal/rundir"
	"lenslaunch/launcher"
	"lenslaunch/ranks"
)

// doctorFlags are those of `lenslaunch doctor`: all of a run's, and a format.
func doctorFlags() []flagSpec {
	return append(runFlags(), flagSpec{
		name: "format", arg: "text|json", initial: "text", cat: catMessages, help: "form of what `lenslaunch doctor` prints",
	})
}

// doctor is `lenslaunch doctor`: what would stand in the way of this launch, here.
func (c *call) doctor() (int, error) {
	s, err := c.settings(doctorFlags())
	if err != nil {
		return launcher.ExitUsage, err
	}
	format, err := s.get("format").choice("text", "json")
	if err != nil {
		return launcher.ExitUsage, err
	}
	list, err := c.diagnose(s)
	if err != nil {
		return launcher.ExitUsage, err
	}
	code, err := c.printFindings(list, format)
	if err == nil && doctor.Fails(list) {
		code = exitNo
	}
	return code, err
}

// diagnose plans the launch and checks it. A launch that is refused is a finding, too:
// the machine is looked at all the same. A slip on the command line is not.
func (c *call) diagnose(s settings) ([]doctor.Finding, error) {
	j, err := c.plan(s, c.inv.words)
	var slip *usageError
	if errors.As(err, &slip) {
		return nil, err
	}
	subject := c.asked(s)
	e, wrong := readExport(s)
	if wrong != nil {
		return nil, wrong
	}
	o := e.options(c.env)
	var place []doctor.Finding
	if err != nil {
		problem, hint := apart(err)
		place = append(place, doctor.Finding{Check: "place", Level: doctor.Problem, Found: problem, Do: hint})
		unplaced(&subject)
	} else {
		place = append(place, doctor.Finding{Check: "place", Level: doctor.Good, Found: strings.Join(j.plan.Why, "; ")})
		for _, warning := range j.plan.Warnings {
			place = append(place, doctor.Finding{Check: "place", Level: doctor.Warning, Found: warning, Do: "see above what it is about"})
		}
		place = append(place, c.describe(&subject, j)...)
		o.Dir = nodeDir(j.plan)
		place = append(place, inUse(o.Dir)...)
	}
	collectors(&subject, o)
	subject.FileLimit, subject.FileNeed = systemCapacity().files, filesNeeded(subject.LocalSize)
	return append(place, doctor.Check(context.Background(), subject)...), nil
}

// asked is the launch as far as its flags alone say, which have been found right: one that
// is refused has no more.
func (c *call) asked(s settings) doctor.Subject {
	subject := doctor.Subject{
		Env: c.env, Nodes: 1, LocalSize: 1, Network: address.System(), Now: time.Now, NProc: s.get("nproc").text,
		Iface: s.get("iface").text, RunDir: s.get("log-dir").text,
	}
	if n, err := strconv.Atoi(subject.NProc); err == nil {
		subject.LocalSize = n
	}
	subject.PortRange, _ = port.ParseRange(s.get("port-range").text)
	if strings.Contains(subject.RunDir, "%") {
		subject.RunDir = filepath.Dir(subject.RunDir) // its name depends on the run
	}
	if subject.RunDir != "" {
		if abs, err := filepath.Abs(subject.RunDir); err == nil {
			subject.RunDir = abs
		}
	}
	return subject
}

// unplaced counts the GPUs for a launch that is refused: how many it has nobody has said.
func unplaced(s *doctor.Subject) {
	s.Unplaced = true
	if s.GPUs, s.GPUsKnown = detect.GPUs(context.Background(), detect.SystemHost()).Usable(s.Env); s.GPUs > 0 && (s.NProc == "auto" || s.NProc == "gpu") {
		s.LocalSize = s.GPUs
	}
}

// nodeDir is where a node's own files would lie, empty: nowhere.
func nodeDir(p *launcher.Plan) string {
	if p.RunDir == "" || p.World.Nodes == 1 {
		return p.RunDir
	}
	return filepath.Join(p.RunDir, rundir.NodeName(p.World.NodeRank))
}

// collectors says where telemetry would go.
func collectors(s *doctor.Subject, o otelsetup.Options) {
	list, other, err := o.Destinations()
	for _, d := range list {
		s.Collectors = append(s.Collectors, doctor.Collector(d))
	}
	if s.TelemetryElse = other; err != nil {
		s.TelemetryFault = oneLine(err.Error())
	}
}

// inUse looks at what a run directory has in it already.
func inUse(dir string) []doctor.Finding {
	if dir == "" {
		return nil
	}
	problem := func(do, found string) []doctor.Finding {
		return []doctor.Finding{{Check: "run directory", Level: doctor.Problem, Found: found, Do: do}}
	}
	run, err := rundir.Read(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return problem("move it away, or give another --log-dir", err.Error())
	case run.Outcome == rundir.OutcomeRunning:
		return problem("let it end, or give another --log-dir", fmt.Sprintf("the launcher with pid %d on host %s holds %s", run.Launcher.Pid, run.Launcher.Host, dir))
	}
	return nil
}

// describe fills in what the launch would be. A ledger that cannot be read ends it.
func (c *call) describe(s *doctor.Subject, j *job) (found []doctor.Finding) {
	w := j.plan.World
	s.Nodes, s.NodeRank, s.LocalSize, s.Hosts = w.Nodes, w.NodeRank, w.LocalSize, w.Hosts
	s.PortRange, s.Iface, s.RunDir, s.StateDir = j.plan.PortRange, j.plan.Iface, j.plan.RunDir, j.plan.LedgerDir
	s.MasterAddr = w.MasterAddr
	if len(w.Hosts) > 0 && j.plan.Request.MasterAddr == "" {
		s.MasterAddr = "" // it was looked up: doctor does that again
	}
	s.GPUs, s.GPUsKnown = j.plan.Request.GPUs, j.plan.Request.GPUsKnown
	next, err := j.plan.NextAttempt()
	if s.MasterPort = next.MasterPort; err != nil {
		problem, hint := apart(err)
		found = append(found, doctor.Finding{Check: "ledger", Level: doctor.Problem, Found: problem, Do: cmp.Or(hint, "repair it, or give another --state-dir")})
	}
	return found
}

// apart splits a refusal into what is wrong and what would be right.
func apart(err error) (problem, hint string) {
	var world *ranks.UsageError
	if errors.As(err, &world) {
		return world.Problem, world.Hint
	}
	var failure *launcher.Failure
	if errors.As(err, &failure) {
		return failure.Problem, failure.Hint
	}
	return err.Error(), ""
}

func (c *call) printFindings(list []doctor.Finding, format string) (int, error) {
	if format == "json" {
		text, err := json.MarshalIndent(list, "", "  ")
		if err != nil {
			return launcher.ExitInternal, fmt.Errorf("cannot write JSON: %w", err)
		}
		return c.print(string(text) + "\n")
	}
	var b strings.Builder
	for _, f := range list {
		fmt.Fprintf(&b, "%-8s %-14s %s\n", f.Level, f.Check, oneLine(f.Found))
		if f.Do != "" {
			fmt.Fprintf(&b, "%-23s -> %s\n", "", oneLine(f.Do))
		}
	}
	return c.print(b.String())
}
