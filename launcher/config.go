package launcher

import (
	"syscall"
	"time"

	"go.opentelemetry.io/otel/attribute"

	"lenslaunch/internal/logmux"
	"lenslaunch/internal/port"
	"lenslaunch/ranks"
)

// Config is what a run was asked to be, after parsing and before any decision that
// needs the machine. Zero values are not defaults: internal/cli fills every field.
type Config struct {
	Command []string          // argv of every worker, at least one entry
	Env     map[string]string // the launcher's environment, captured once at its start
	Request ranks.Request     // ranks and place among the nodes

	Role     string // nv.dl.role, ROLE_NAME
	RoleSet  bool   // --role was given: it beats an inherited nv.dl.role
	RunID    string // --run-id, empty: from the environment or made up
	StateDir string // --state-dir, empty: the default place of the ledger

	MasterPort int        // --master-port, 0: reserved anew for every attempt
	PortRange  port.Range // where reserved ports come from
	Iface      string     // --iface, empty: any that leads to the head

	SetEnv   []EnvVar // --env, in order; values may hold placeholders
	UnsetEnv []string // --unset-env
	Dir      string   // --chdir, empty: the launcher's; may hold placeholders

	Attrs        []attribute.KeyValue // --attr: overrides in every rank's carrier
	AttrDefaults []attribute.KeyValue // --attr-default

	Policy  Policy
	Stop    Ladder        // when told to end
	StopMax time.Duration // --stop-timeout-max
	Restop  time.Duration // bound of the ladder when survivors of a failure are stopped
	Grace   time.Duration // --failure-grace
	Forward []syscall.Signal
	Save    Save // --save-signal, --on-stop-code

	Placement  Placement
	Hang       Hang
	StopMaxSet bool          // --stop-timeout-max was given: ranks may ask for more time
	GPURelease time.Duration // --gpu-release-timeout
	Guard      bool          // --guard: a process that ends the ranks if the launcher is killed
	Groups     bool          // use control groups where they can be made

	Traceparent  bool // ranks get TRACEPARENT where there is telemetry
	JournalSlots int  // --journal-slots, spans that a rank's journal has room for; 0: as many as is usual

	Output Output
	Logs   Logs
}

// EnvVar is one variable of a worker's environment.
type EnvVar struct{ Key, Value string }

// Output says what reaches the console.
type Output struct {
	Mode   OutputMode
	Shown  func(local, rank int) bool // --ranks and the mode together
	Prefix logmux.Template            // of lines, in OutputPrefix
	Stdin  int                        // local rank that reads the launcher's stdin, -1: none
}

// OutputMode is how lines of workers look on the console.
type OutputMode string

// Modes of --output. OutputRank0 shows global rank 0 only, as OutputPlain does.
const (
	OutputPrefix OutputMode = "prefix"
	OutputPlain  OutputMode = "plain"
	OutputRank0  OutputMode = "rank0"
	OutputNone   OutputMode = "none"
)

// killPatience is how long a killed process may still be there before it is
// reported as stuck instead of waited for.
const killPatience = 5 * time.Second

// rules are the settings that step needs.
func (c Config) rules(w ranks.World) rules {
	return rules{
		ranks: w.LocalSize, firstRank: w.Rank(0), policy: c.Policy,
		told: c.Stop, failed: c.Stop.Within(c.Restop), grace: c.Grace,
		forward: c.Forward, save: c.Save, stopMax: c.StopMax, killPatience: killPatience, foreground: -1,
		inStep: w.InStep,
	}
}
