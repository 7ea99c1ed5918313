package launcher

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"go.opentelemetry.io/otel/attribute"

	"lenslaunch/carrier"
	"lenslaunch/detect"
	"lenslaunch/internal/address"
	"lenslaunch/internal/ledger"
	"lenslaunch/internal/placement"
	"lenslaunch/ranks"
)

// Plan is everything about a run that is decided before its first process starts.
// `lenslaunch env` shows it, Run carries it out.
type Plan struct {
	Config
	World ranks.World

	RunID     string
	RunIDFrom string // "--run-id", "SLURM_JOB_ID", "generated", ...
	JobUUID   string // derived, never inherited: the ledger's key

	LedgerDir  string // empty: no ledger
	LedgerName string
	RunDir     string // absolute, empty: none

	Why      []string // one line per decision
	Warnings []string // what the user should know but nothing stops for

	Traced Traced // filled in before Run, where there is telemetry

	base     []attribute.KeyValue   // the carrier that the launcher was started with
	found    []attribute.KeyValue   // what detection found: defaults of every carrier
	gpu      [][]attribute.KeyValue // nv.gpu.* by local rank
	gpus     detect.GPUSet
	host     detect.Host
	program  string // resolved COMMAND
	cpus     int
	bindings []placement.Binding // by local rank
	visible  []map[string]string // variables that narrow the GPUs, by local rank
	uid      int
	network  address.Network
	// unreachable says why the head has no address here, nil: it has.
	unreachable *Failure
	stateDir    string // where the user wants the ledger, empty: anywhere
}

// Facts are what a plan needs to know of the machine.
type Facts struct {
	Host detect.Host
	GPUs detect.GPUSet
	CPUs int // usable by this process
	UID  int // owner of the default ledger directory

	Root fs.FS // root of the file system, for sysfs; nil: the real one

	Network *address.Network // names and interfaces; nil: the real ones
}

func (f Facts) root() fs.FS {
	if f.Root == nil {
		return os.DirFS("/")
	}
	return f.Root
}

func (f Facts) network() address.Network {
	if f.Network == nil {
		return address.System()
	}
	return *f.Network
}

// NewPlan decides everything. It starts nothing and writes nothing. The error is a
// *Failure.
func NewPlan(ctx context.Context, c Config, w ranks.World, facts Facts) (*Plan, error) {
	p := &Plan{Config: c, World: w, Why: w.Why, Warnings: w.Warnings, cpus: facts.CPUs, gpus: facts.GPUs, host: facts.Host}
	p.base = carrier.Parse(c.Env[carrier.Variable])
	p.RunID, p.RunIDFrom = detect.RunID(c.Env, p.base, c.RunID)
	if err := p.placeLogs(); err != nil {
		return nil, err
	}
	p.Why = append(p.Why, p.runIDWhy())
	p.JobUUID, _ = detect.JobUUID(c.Env, p.RunID)
	p.findHead(ctx, facts.network())
	p.found = detect.WorkerDefaults(c.Env, facts.Host, p.base)
	for _, r := range w.LocalRanks() {
		p.gpu = append(p.gpu, facts.GPUs.Rank(c.Env, r.Local))
	}
	if err := p.locate(facts.root(), facts.GPUs); err != nil {
		return nil, err
	}
	p.Why = append(p.Why, p.threadsWhy())
	if err := p.checkWorkers(); err != nil {
		return nil, err
	}
	p.placeLedger(facts.UID)
	return p, nil
}

// generated reports whether the run's name was made up: such a run cannot be
// continued, so it writes no ledger.
func (p *Plan) generated() bool { return p.RunIDFrom == detect.Generated }

// runIDWhy says where the run's name comes from, and what follows from a made-up one.
func (p *Plan) runIDWhy() string {
	if p.generated() && p.RunDir == "" {
		return fmt.Sprintf("run id %s made up, so no ledger is kept (give --run-id ID to continue a run)", p.RunID)
	}
	return fmt.Sprintf("run id %s from %s", p.RunID, p.RunIDFrom)
}

// placeLedger decides where attempts are remembered; PrepareLedger makes the place.
func (p *Plan) placeLedger(uid int) {
	// Several nodes agree without a message only if none of them counts by itself.
	if p.World.Nodes > 1 || p.generated() && p.RunDir == "" {
		return
	}
	p.LedgerName = ledger.Name(p.JobUUID, p.Env["SLURM_ARRAY_TASK_ID"])
	// A run directory is where a run remembers.
	p.stateDir = cmp.Or(p.StateDir, p.RunDir)
	p.LedgerDir, _ = ledger.Path(p.Env, p.stateDir, uid)
	p.uid = uid
}

// PrepareLedger makes the ledger's directory. An explicit one that cannot be used is
// an error; a default one is a warning, and the run goes on without a ledger.
func (p *Plan) PrepareLedger() error {
	if p.LedgerDir == "" {
		return nil
	}
	_, _, err := ledger.Dir(p.Env, p.stateDir, p.uid)
	switch {
	case err == nil:
	case p.StateDir != "":
		return usage(fmt.Sprintf("cannot keep the ledger of attempts in --state-dir: %v", err), "give a directory that you own and can write")
	default:
		p.LedgerDir = ""
		p.Warnings = append(p.Warnings, noLedger(err))
	}
	return nil
}

func noLedger(err error) string {
	return fmt.Sprintf("the run goes on without a ledger of attempts, so the next one does not know of it: %v (give --state-dir DIR)", err)
}

// checkWorkers finds what would make a start fail, for every rank, before the
// first one is started.
func (p *Plan) checkWorkers() error {
	trial := Attempt{UUID: strings.Repeat("x", 36), MasterPort: 65535, ErrorDir: os.TempDir(), RestartCount: new(int64)}
	for local := range p.World.LocalSize {
		w, err := p.Worker(local, trial)
		if err != nil {
			return err
		}
		if err := checkDir(w.Dir); err != nil {
			return err
		}
		if local == 0 && len(p.Command) > 0 {
			if p.program, err = p.resolve(w); err != nil {
				return err
			}
		}
		if err := p.checkSize(w); err != nil {
			return err
		}
	}
	return nil
}

// checkDir says why a worker cannot start in its directory.
func checkDir(dir string) error {
	if dir == "" {
		return nil
	}
	info, err := os.Stat(dir)
	switch {
	case err != nil:
		return usage(fmt.Sprintf("cannot use --chdir %q: %v", dir, cause(err)), "give a directory that exists")
	case !info.IsDir():
		return usage(fmt.Sprintf("cannot use --chdir %q: it is no directory", dir), "give a directory")
	}
	return nil
}

// resolve finds COMMAND with the PATH and directory that the workers will have.
func (p *Plan) resolve(w Worker) (string, error) {
	path, failure := findCommand(p.Command[0], w.Dir, w.env(p.Env)["PATH"])
	if failure != nil {
		return "", failure
	}
	return path, nil
}

// maxString is the longest environment string that Linux passes to a program,
// name, '=' and NUL included (MAX_ARG_STRLEN, 32 pages).
const maxString = 131072

// checkSize finds strings that no exec would take, and says which key is too long.
func (p *Plan) checkSize(w Worker) error {
	for key, value := range w.Set {
		if size := len(key) + len(value) + 2; size > maxString && key != carrier.Variable {
			return usage(fmt.Sprintf("cannot start a worker: %s would have %d bytes, one variable can have %d", key, size, maxString), "shorten it")
		}
	}
	text, warnings := carrier.Format(w.Carrier)
	for _, warning := range warnings {
		// Every rank inherits the same: once is enough.
		if line := "the ranks' carrier: " + warning.String(); !slices.Contains(p.Warnings, line) {
			p.Warnings = append(p.Warnings, line)
		}
	}
	if size := len(carrier.Variable) + len(text) + 2; size > maxString {
		key, length := largest(w.Carrier)
		return usage(fmt.Sprintf("cannot start a worker: its %s would have %d bytes, one variable can have %d; the largest key is %s with %d bytes",
			carrier.Variable, size, maxString, key, length), "shorten it")
	}
	for _, arg := range p.Command {
		if len(arg)+1 > maxString {
			return usage(fmt.Sprintf("cannot start a worker: an argument of COMMAND has %d bytes, one can have %d", len(arg), maxString), "pass it in a file")
		}
	}
	return nil
}

// largest is the key that takes most room in a carrier.
func largest(list []attribute.KeyValue) (key string, bytes int) {
	for _, kv := range list {
		text, _ := carrier.Format([]attribute.KeyValue{kv})
		if len(text) > bytes {
			key, bytes = string(kv.Key), len(text)
		}
	}
	return key, bytes
}

// HasRunID reports whether a run is named by its user or scheduler rather than made
// up.
func HasRunID(c Config) bool {
	_, from := detect.RunID(c.Env, carrier.Parse(c.Env[carrier.Variable]), c.RunID)
	return from != detect.Generated
}

// tempDir is where error files of attempts go.
func (p *Plan) tempDir() string {
	if dir := p.Env["TMPDIR"]; dir != "" {
		return filepath.Clean(dir)
	}
	return os.TempDir()
}
