package detect

import (
	"slices"

	"go.opentelemetry.io/otel/attribute"

	"lenslaunch/semconv"
)

// WorkerDefaults returns what was detected for the carrier of a worker of this
// host: host.name, host.gpu.count, what derives from Slurm's variables (with
// nv.dl.job.uuid) and k8s.*. They are defaults: keys that the inherited list has
// a value for are left out, and where sources collide the later one wins.
//
// The launcher's pid is not among them, since it is a fact of the launcher's own
// process, nor is anything of an attempt. The GPU count needs [Host.WithGPUs].
// (Carrier specification, "Who may win".)
func WorkerDefaults(env map[string]string, host Host, inherited []attribute.KeyValue) []attribute.KeyValue {
	local := slices.Concat(hostName(host), gpuCount(env, host))
	found := semconv.Compose(local, derivedSlurm(env), Kubernetes(env, host))
	return without(found, SanitizeInherited(inherited))
}
