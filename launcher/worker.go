package launcher

import (
	"maps"
	"path/filepath"
	"slices"
	"strconv"

	"go.opentelemetry.io/otel/attribute"

	"lenslaunch/detect"
	"lenslaunch/internal/notify"
	"lenslaunch/internal/tree"
	"lenslaunch/semconv"
)

// Worker is what one rank of one attempt is started with.
type Worker struct {
	Local, Rank int
	Dir         string // working directory, empty: the launcher's
	Carrier     []attribute.KeyValue
	Set         map[string]string // variables that the launcher sets; the carrier's is not among them
	Unset       []string          // variables that it takes away
}

// AttemptKey is the carrier's key of the attempt number, an int. It is the
// launcher's own, no semantic convention (the identity specification).
const AttemptKey = "lenslaunch.attempt"

// Worker composes what a local rank gets in an attempt. It is the same for the same
// input: `lenslaunch env` and a start cannot differ.
func (p *Plan) Worker(local int, a Attempt) (Worker, error) {
	w := Worker{Local: local, Rank: p.World.Rank(local)}
	w.Dir = p.place(w, a).expand(p.Dir)
	w.Carrier = p.carrier(w, a)
	w.Set = p.variables(w, a)
	w.Unset = append(stale(w.Set), p.UnsetEnv...)
	return w, nil
}

// place is what placeholders stand for in a rank.
func (p *Plan) place(w Worker, a Attempt) place {
	return place{rank: w.Rank, local: w.Local, node: p.World.NodeRank, attempt: a.label(), runID: p.RunID}
}

// variables are those that the launcher sets for a rank, besides its carrier. The
// user's cannot be among those that it owns.
func (p *Plan) variables(w Worker, a Attempt) map[string]string {
	set, at := p.contract(w, a), p.place(w, a)
	for _, v := range p.SetEnv {
		set[v.Key] = at.expand(v.Value)
	}
	for _, key := range p.UnsetEnv {
		delete(set, key)
	}
	return set
}

// carrier composes a rank's resource (the carrier specification, "Who may win"):
// what was detected or is known of the run are defaults, what the launcher was
// started with beats them, flags beat that, and identity is the launcher's alone.
func (p *Plan) carrier(w Worker, a Attempt) []attribute.KeyValue {
	defaults := semconv.Compose(nil, p.AttrDefaults, p.found)
	defaults = semconv.Compose(defaults, p.gpu[w.Local], []attribute.KeyValue{
		attribute.String(semconv.NVDLRole, p.Role),
		attribute.String(semconv.NemoRunID, p.RunID),
	})
	if _, known := semconv.Get(defaults, semconv.NVDLJobUUID); !known {
		defaults = semconv.Set(defaults, attribute.String(semconv.NVDLJobUUID, p.JobUUID))
	}
	return semconv.Compose(defaults, p.inherited(), p.overrides(w, a))
}

// overrides are the flags that were given and, above them, the identity of the worker.
func (p *Plan) overrides(w Worker, a Attempt) []attribute.KeyValue {
	var own []attribute.KeyValue
	if p.RoleSet {
		own = append(own, attribute.String(semconv.NVDLRole, p.Role))
	}
	if p.Config.RunID != "" {
		own = append(own, attribute.String(semconv.NemoRunID, p.RunID))
	}
	own = append(own,
		attribute.Int(semconv.NVDLRank, w.Rank),
		attribute.Int(semconv.NVDLWorldSize, p.World.WorldSize()),
		attribute.Int(semconv.NVDLLocalRank, w.Local),
		attribute.String(semconv.NVDLRunUUID, a.UUID))
	if a.RestartCount != nil {
		own = append(own, attribute.Int64(semconv.SlurmRestartCount, *a.RestartCount))
	}
	own = append(own,
		attribute.String(detect.ServiceInstanceID, p.RunID+"-rank"+strconv.Itoa(w.Rank)),
		attribute.Int(AttemptKey, a.Number))
	return semconv.Compose(nil, p.Attrs, own)
}

// inherited is what the launcher was started with, as far as it may reach a worker: a
// pid describes the process that it was given to.
func (p *Plan) inherited() []attribute.KeyValue {
	return slices.DeleteFunc(detect.SanitizeInherited(p.base), func(kv attribute.KeyValue) bool {
		return kv.Key == detect.ProcessPid
	})
}

// contract is the environment that torch.distributed and its users read (the launch
// specification, "What a worker gets").
func (p *Plan) contract(w Worker, a Attempt) map[string]string {
	n := strconv.Itoa
	set := map[string]string{
		"RANK": n(w.Rank), "LOCAL_RANK": n(w.Local),
		"WORLD_SIZE": n(p.World.WorldSize()), "LOCAL_WORLD_SIZE": n(p.World.LocalSize),
		"GROUP_RANK": n(p.World.NodeRank), "GROUP_WORLD_SIZE": n(p.World.Nodes),
		"ROLE_RANK": n(w.Rank), "ROLE_WORLD_SIZE": n(p.World.WorldSize()), "ROLE_NAME": p.Role,
		"MASTER_ADDR":                  p.World.MasterAddr,
		"TORCHELASTIC_RESTART_COUNT":   n(a.Number),
		"TORCHELASTIC_MAX_RESTARTS":    n(p.Policy.MaxRestarts),
		"TORCHELASTIC_RUN_ID":          p.RunID,
		"TORCHELASTIC_USE_AGENT_STORE": "False", // True without an agent's store hangs every rank
		"NEMO_LENS_RUN_ID":             p.RunID,
		"LENSLAUNCH_ATTEMPT":           n(a.Number),
	}
	if a.MasterPort != 0 {
		set["MASTER_PORT"] = n(a.MasterPort)
	}
	if p.RunDir != "" {
		set["LENSLAUNCH_RUN_DIR"] = p.RunDir
	}
	if a.ErrorDir != "" {
		set["TORCHELASTIC_ERROR_FILE"] = errorFile(a.ErrorDir, w.Rank)
	}
	// A value that the user chose stays: these are set only where none is.
	for key, value := range map[string]string{
		"TORCH_NCCL_ASYNC_ERROR_HANDLING": "1",
		"PYTHONUNBUFFERED":                "1",
	} {
		if _, chosen := p.Env[key]; !chosen {
			set[key] = value
		}
	}
	p.placed(set, w.Local)
	return set
}

// errorFile is where a rank of torch writes its first error.
func errorFile(dir string, rank int) string {
	return filepath.Join(dir, "rank-"+strconv.Itoa(rank)+".json")
}

// ownedVariables are the launcher's to set: --env and --unset-env refuse them.
func ownedVariables() []string {
	return []string{
		"RANK", "LOCAL_RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE", "GROUP_RANK", "GROUP_WORLD_SIZE",
		"ROLE_RANK", "ROLE_WORLD_SIZE", "ROLE_NAME", "MASTER_ADDR", "MASTER_PORT",
		"TORCHELASTIC_RESTART_COUNT", "TORCHELASTIC_MAX_RESTARTS", "TORCHELASTIC_RUN_ID",
		"TORCHELASTIC_USE_AGENT_STORE", "TORCHELASTIC_ERROR_FILE", "NEMO_LENS_RUN_ID",
		"OTEL_RESOURCE_ATTRIBUTES", "LENSLAUNCH_ATTEMPT", "LENSLAUNCH_RUN_DIR",
		"LENSLAUNCH_SPAN_JOURNAL", "LENSLAUNCH_HEARTBEAT_FILE", tree.Variable,
	}
}

// OwnsVariable reports whether the launcher alone sets a worker's variable.
func OwnsVariable(key string) bool {
	for _, own := range ownedVariables() {
		if key == own {
			return true
		}
	}
	return false
}

// OwnsAttribute reports whether the launcher alone sets a carrier's key.
func OwnsAttribute(key string) bool {
	switch key {
	case semconv.NVDLRank, semconv.NVDLWorldSize, semconv.NVDLLocalRank, semconv.NVDLRunUUID,
		semconv.SlurmRestartCount, semconv.NemoRunID, "service.instance.id", AttemptKey:
		return true
	}
	return false
}

// stale lists owned variables that the launcher does not set: what an outer
// launcher left of them describes other processes.
func stale(set map[string]string) []string {
	var out []string
	for _, key := range ownedVariables() {
		if _, ok := set[key]; !ok && key != "OTEL_RESOURCE_ATTRIBUTES" {
			out = append(out, key)
		}
	}
	// A worker's READY=1 would be taken for the launcher's where that is a service.
	return append(out, notify.Foreign()...)
}

// env is the whole environment of the worker on top of base, without the carrier.
func (w Worker) env(base map[string]string) map[string]string {
	env := maps.Clone(base)
	for _, key := range w.Unset {
		delete(env, key)
	}
	maps.Copy(env, w.Set)
	return env
}
