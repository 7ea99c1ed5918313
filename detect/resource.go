package detect

import (
	"context"
	"strconv"

	"go.opentelemetry.io/otel/attribute"

	"lenslaunch/carrier"
	"lenslaunch/semconv"
)

// Resource returns the resource of this process as Lens builds one for a Python
// process. Attributes come through two channels, the caller's list and the
// carrier that the process inherited in env:
//
//	carrier < variables of the base < caller < detected (local, Slurm, Kubernetes)
//
// with two exceptions. For the allowlisted Slurm and identity keys the carrier is
// authoritative (the Slurm detector returns its values). And service.name is
// OTEL_SERVICE_NAME, else the carrier's, else the caller's, which is a default.
//
// Both channels are resolved before anything is derived from them, so a rank
// that arrives in the carrier gives the same service.instance.id as one that the
// caller supplied. Null entries are left out. A process that no launcher started
// gets its local attributes and a fresh run id. ctx bounds the GPU query, which
// is made only where neither CUDA_VISIBLE_DEVICES nor [Host.WithGPUs] answers.
// (Resource detection specification, "A process's own resource".)
func Resource(ctx context.Context, env map[string]string, host Host, caller []attribute.KeyValue) []attribute.KeyValue {
	if _, set := env[visibleDevices]; !set {
		host = host.WithGPUs(GPUs(ctx, host))
	}
	carried := typed(host, "carrier", SanitizeInherited(carrier.Parse(env[carrier.Variable])))
	caller = typed(host, "caller", caller)

	out := semconv.Compose(carried, base(env), caller)
	out = setText(out, ServiceName, firstOf(env["OTEL_SERVICE_NAME"], textOf(carried, ServiceName), textOf(caller, ServiceName)))
	runID, _ := RunID(env, carried, textOf(caller, semconv.NemoRunID))
	out = setText(out, semconv.NemoRunID, runID)

	// Asked of the two channels only: what a detector finds is no rank.
	rank, ranked := semconv.Get(out, semconv.NVDLRank)
	_, named := semconv.Get(caller, ServiceInstanceID)
	if ranked && rank.Type() == attribute.INT64 && !named {
		out = setText(out, ServiceInstanceID, runID+"-rank"+strconv.FormatInt(rank.AsInt64(), 10))
	}
	return withoutNull(semconv.Compose(out, semconv.Compose(Local(env, host), Slurm(env), Kubernetes(env, host)), nil))
}

// base is what Lens reads from variables of its own.
func base(env map[string]string) []attribute.KeyValue {
	d := derivation{env: env}
	d.first(semconv.NemoUserID, "NEMO_LENS_USER_ID")
	d.first(semconv.WandbEntity, "WANDB_ENTITY")
	d.first(semconv.WandbProject, "WANDB_PROJECT")
	// Under both names: Lens still writes the old one, upstream reads the new one.
	d.first(deploymentEnvironment, "DEPLOYMENT_ENV", "ENVIRONMENT")
	d.first(deploymentEnvironmentName, "DEPLOYMENT_ENV", "ENVIRONMENT")
	return d.list
}

// typed reconstructs the types of known keys; a value that has not the type of
// its key stays, and is named in the log.
func typed(host Host, channel string, list []attribute.KeyValue) []attribute.KeyValue {
	out, invalid := semconv.Normalize(list)
	for _, key := range invalid {
		host.log().Warn("resource attribute has not the type of its key", "key", key, "channel", channel)
	}
	return out
}

func textOf(list []attribute.KeyValue, key string) string {
	v, _ := semconv.Get(list, key)
	return v.AsString() // "" for any other type
}

// setText sets a key unless there is nothing to set.
func setText(list []attribute.KeyValue, key, value string) []attribute.KeyValue {
	if value == "" {
		return list
	}
	return semconv.Set(list, attribute.String(key, value))
}

// withoutNull drops what was overridden to be absent: a resource has no null.
func withoutNull(list []attribute.KeyValue) []attribute.KeyValue {
	out := list[:0:0]
	for _, kv := range list {
		if !semconv.IsNull(kv.Value) {
			out = append(out, kv)
		}
	}
	return out
}
