package cli

import (
	"strings"

	"github.com/urfave/cli/v2"
)

// Categories of flags, in the order in which help shows them.
const (
	catRanks     = "Ranks"
	catRestarts  = "Restarts and stopping"
	catOutput    = "Output"
	catResources = "Resources and environment"
	catTelemetry = "Telemetry"
	catCluster   = "Cluster"
	catMessages  = "The launcher's own messages"
)

func categories() []string {
	return []string{catRanks, catRestarts, catOutput, catResources, catTelemetry, catCluster, catMessages}
}

// flagKind is how a flag is written.
type flagKind int

const (
	takesValue flagKind = iota
	takesMany           // repeatable; its variable holds one entry per line
	isSwitch            // no value
)

// flagSpec is one flag: the single source of the parser, the help and the docs.
type flagSpec struct {
	name    string
	short   string // one letter, empty: none
	alias   string // a second long spelling, empty: none
	kind    flagKind
	arg     string // how help names the value
	initial string // the value without flag and variable
	cat     string
	help    string

	mayBeEmpty bool // an empty value is right: a list that a script computes
}

// variable is the environment variable of the flag.
func (f flagSpec) variable() string {
	return "LENSLAUNCH_" + strings.ToUpper(strings.ReplaceAll(f.name, "-", "_"))
}

// urfave is the flag as urfave/cli parses it. Values stay text: package cli reads
// them itself, so that flag and variable give the same message. Slices are never
// split at commas: `--attr k=a,b` is one entry.
func (f flagSpec) urfave() cli.Flag {
	var aliases []string
	if f.short != "" {
		aliases = append(aliases, f.short)
	}
	if f.alias != "" {
		aliases = append(aliases, f.alias)
	}
	switch f.kind {
	case isSwitch:
		return &cli.BoolFlag{Name: f.name, Aliases: aliases}
	case takesMany:
		return &cli.StringSliceFlag{Name: f.name, Aliases: aliases, KeepSpace: true}
	default:
		return &cli.StringFlag{Name: f.name, Aliases: aliases}
	}
}

// runFlags are the flags of `lenslaunch run`, which `env` shares.
func runFlags() []flagSpec {
	flags := rankFlags()
	flags = append(flags, restartFlags()...)
	flags = append(flags, outputFlags()...)
	flags = append(flags, resourceFlags()...)
	flags = append(flags, telemetryFlags()...)
	flags = append(flags, clusterFlags()...)
	return append(flags, messageFlags()...)
}

func rankFlags() []flagSpec {
	return []flagSpec{
		{name: "nproc", alias: "nproc-per-node", arg: "N|auto|gpu|cpu", initial: "auto", cat: catRanks,
			help: "local ranks; auto: one per GPU, 1 without GPUs"},
		{name: "role", arg: "NAME", initial: "trainer", cat: catRanks, help: "ROLE_NAME and nv.dl.role of the workers"},
		{name: "run-id", arg: "ID", cat: catRanks,
			help: "name of the run, shared by all ranks and attempts (default: from the environment, else made up)"},
		{name: "state-dir", arg: "DIR", cat: catRanks,
			help: "where the ledger of attempts lies (default: a per-user directory under TMPDIR)"},
		{name: "chdir", arg: "DIR", cat: catRanks, help: "the workers' working directory"},
		{name: "stdin", arg: "RANK|none", cat: catRanks,
			help: "local rank that reads the launcher's stdin (default: the only rank, else none)"},
		{name: "dry-run", kind: isSwitch, cat: catRanks, help: "show what each rank would get and start nothing, as `lenslaunch env` does"},
	}
}

func restartFlags() []flagSpec {
	return []flagSpec{
		{name: "max-restarts", arg: "N", initial: "0", cat: catRestarts, help: "restarts after a failed attempt"},
		{name: "restart-delay", arg: "D", initial: "1s", cat: catRestarts,
			help: "before the first restart; doubled for each further failure in a row, times a random 0.5 to 1"},
		{name: "restart-delay-max", arg: "D", initial: "1m", cat: catRestarts,
			help: "longest restart delay; an attempt that lives as long ends the row"},
		{name: "restart-on", arg: "CODES", cat: catRestarts,
			help: "exit codes and signals that are restarted, as in 3,64-78,SIGKILL (default: all that are not fatal)"},
		{name: "no-restart-on", arg: "CODES", initial: "2,126,127", cat: catRestarts,
			help: "exit codes and signals that are fatal (none: no end is)"},
		{name: "restart-window", arg: "D", initial: "0s", cat: catRestarts,
			help: "count only the restarts of the last D (0s: of the whole run)"},
		{name: "min-uptime", arg: "D", initial: "0s", cat: catRestarts,
			help: "two attempts in a row that fail sooner end the run"},
		{name: "stop-signal", arg: "SIG[:D,...]", initial: "SIGTERM", cat: catRestarts,
			help: "how workers are asked to stop; INT:5s,TERM:15s is a ladder"},
		{name: "stop-timeout", arg: "D", initial: "20s", cat: catRestarts,
			help: "from the stop signal to SIGKILL when the job is told to end (in a Slurm step: KillWait - 3s)"},
		{name: "stop-timeout-max", arg: "D", initial: "10m", cat: catRestarts,
			help: "how far a rank may extend its time by sd_notify's EXTEND_TIMEOUT_USEC"},
		{name: "restart-stop-timeout", arg: "D", initial: "15s", cat: catRestarts,
			help: "the time of --stop-timeout for the survivors of a failure"},
		{name: "failure-grace", arg: "D", initial: "0s", cat: catRestarts,
			help: "wait this long after the first failure before stopping the others"},
		{name: "hang-timeout", arg: "D", initial: "0s", cat: catRestarts,
			help: "a rank without output, heartbeat or notification for D has failed (0s: off)"},
		{name: "on-hang", arg: "CMD", cat: catRestarts, help: "run by a shell with PID and RANK before a hung rank is stopped"},
		{name: "hang-signal", arg: "SIG", cat: catRestarts, help: "then sent to it, as SIGQUIT or SIGABRT for a dump"},
		{name: "gpu-release-timeout", arg: "D", initial: "30s", cat: catRestarts,
			help: "how long a restart waits for the old attempt's GPU memory"},
		{name: "guard", arg: "on|off", initial: "on", cat: catRestarts,
			help: "a small process that ends the ranks if the launcher is killed"},
		{name: "cgroup", arg: "auto|off", initial: "auto", cat: catRestarts,
			help: "hold each attempt in a control group of its own, where that is possible"},
		{name: "forward", arg: "SIGS", initial: "USR1,USR2", cat: catRestarts,
			help: "signals passed on to every worker while the job goes on (none: no signal is)"},
		{name: "save-signal", arg: "SIG[:D]", cat: catRestarts,
			help: "a save request, passed on: ranks that all exit 0 within D (5m) after it were saved"},
		{name: "on-stop-code", arg: "N", initial: "75", cat: catRestarts,
			help: "the exit code of a run that was saved: run me again"},
	}
}

func outputFlags() []flagSpec {
	return []flagSpec{
		{name: "output", arg: "prefix|plain|rank0|none", cat: catOutput,
			help: "how workers' lines reach the console (default: prefix, plain if there is one rank)"},
		{name: "ranks", arg: "LIST", cat: catOutput, help: "local ranks whose output is shown, as in 0,3-5 (default: all)"},
		{name: "prefix-template", arg: "T", cat: catOutput,
			help: "of lines, with {rank}, {local_rank}, {node}, {host}, {attempt}, {role}, {time} (default: \"[{rank}] \")"},
		{name: "keep-cr", kind: isSwitch, cat: catOutput, help: "show every state of a progress bar, not one a second"},
		{name: "log-dir", arg: "DIR", cat: catOutput,
			help: "run directory: every rank's output in files of its own, and what happened; %i is the run id, %n the node"},
		{name: "log-max-size", arg: "S", initial: "0", cat: catOutput, help: "rotate a rank's file before it is larger, as in 100MiB (0: never)"},
		{name: "log-keep", arg: "N", initial: "5", cat: catOutput, help: "so many rotated files are kept"},
		{name: "tee", arg: "all|none|LIST", initial: "all", cat: catOutput,
			help: "local ranks whose output goes to the console besides the run directory"},
	}
}

func resourceFlags() []flagSpec {
	return []flagSpec{
		{name: "attr", kind: takesMany, arg: "K=V", cat: catResources, help: "attribute in every rank's carrier; beats an inherited one"},
		{name: "attr-default", kind: takesMany, arg: "K=V", cat: catResources, help: "the same, where nothing else gives the attribute"},
		{name: "env", kind: takesMany, arg: "K=V", cat: catResources,
			help: "variable of the workers; %r %l %n %a %i are rank, local rank, node rank, attempt, run id"},
		{name: "cpu-bind", arg: "none|cores|numa", initial: "none", cat: catResources,
			help: "cores: cores of its own for each rank; numa: the NUMA node of its GPU"},
		{name: "omp-threads", arg: "auto|inherit|N", initial: "auto", cat: catResources,
			help: "OMP_NUM_THREADS; auto: if unset, the usable CPUs divided by the local ranks"},
		{name: "gpu-bind", arg: "none|single", initial: "none", cat: catResources,
			help: "single: each rank sees its own GPU only, as device 0"},
		{name: "unset-env", kind: takesMany, arg: "K", cat: catResources, help: "variable that the workers do not get"},
	}
}

func telemetryFlags() []flagSpec {
	return append(exportFlags(),
		flagSpec{name: "no-traceparent", kind: isSwitch, cat: catTelemetry,
			help: "do not make the workers' traces part of the launcher's by TRACEPARENT"},
		flagSpec{name: "journal-slots", arg: "N", initial: "1024", cat: catTelemetry,
			help: "spans that the journal of a rank has room for, of 256 bytes each, up to 4096"})
}

// exportFlags are about where telemetry goes, whoever sends it.
func exportFlags() []flagSpec {
	return []flagSpec{
		{name: "telemetry", arg: "auto|on|off", initial: "auto", cat: catTelemetry,
			help: "spans and metrics; auto: where OTEL_* variables say where to, or there is a --log-dir"},
		{name: "telemetry-file", arg: "FILE", cat: catTelemetry,
			help: "write them as OTLP/JSON there as well (default: spans.jsonl in --log-dir, if they go nowhere else)"},
		{name: "telemetry-timeout", arg: "D", initial: "2s", cat: catTelemetry, help: "what they may cost at the end, in all"},
	}
}

func clusterFlags() []flagSpec {
	return []flagSpec{
		{name: "nnodes", arg: "N", cat: catCluster, help: "nodes of the job (default: from the scheduler, else 1)"},
		{name: "node-rank", arg: "R", cat: catCluster, help: "this node's place among them, from 0"},
		{name: "master-addr", arg: "A", cat: catCluster, help: "where rank 0's store listens (default: from the scheduler, 127.0.0.1 on one node)"},
		{name: "master-port", arg: "P", cat: catCluster, help: "its port (default: a free one, reserved anew for every attempt; in a Slurm step one that all nodes agree on)"},
		{name: "port-range", arg: "A-B", initial: "20000-29999", cat: catCluster, help: "where reserved ports come from; the same on all nodes"},
		{name: "iface", arg: "NAME", cat: catCluster, help: "the nodes' network interface that leads to the head, where its name leads elsewhere"},
		{name: "scheduler", arg: "auto|none|slurm|kubernetes", initial: "auto", cat: catCluster, help: "whose variables say where this node stands"},
	}
}

func messageFlags() []flagSpec {
	return []flagSpec{
		{name: "quiet", short: "q", kind: isSwitch, cat: catMessages, help: "errors only"},
		{name: "verbose", short: "v", kind: isSwitch, cat: catMessages, help: "every decision and state change"},
		{name: "log-format", arg: "text|json", initial: "text", cat: catMessages, help: "form of the messages on stderr"},
	}
}

// globalFlags may stand before or without a subcommand.
func globalFlags() []flagSpec {
	return []flagSpec{
		{name: "help", short: "h", kind: isSwitch, cat: catMessages, help: "this help"},
		{name: "version", kind: isSwitch, cat: catMessages, help: "the version"},
	}
}
