package detect

import (
	"go.opentelemetry.io/otel/attribute"

	"lenslaunch/carrier"
	"lenslaunch/semconv"
)

// Slurm returns the slurm.* attributes and nv.dl.job.uuid, and nv.dl.run.uuid if
// it was inherited. First those of the carrier in env, in its order, then what
// SLURM_JOB_ID and its kind allow to derive and the carrier did not say.
//
// An inherited value wins, so that one launcher can speak for its whole tree. An
// empty one does not count, nor one that is no integer where one is needed, so
// that a valid local value can take its place. Retired keys are never emitted.
// (Resource detection specification, "Slurm".)
func Slurm(env map[string]string) []attribute.KeyValue {
	out := inherited(carrier.Parse(env[carrier.Variable]))
	return append(out, without(derivedSlurm(env), out)...)
}

// derivedSlurm derives everything from the scheduler's own variables, in Lens's
// order. It needs SLURM_JOB_ID; the carrier has no part in it.
func derivedSlurm(env map[string]string) []attribute.KeyValue {
	raw := env["SLURM_JOB_ID"]
	if raw == "" {
		return nil
	}
	array := env["SLURM_ARRAY_JOB_ID"]
	task, element := env["SLURM_ARRAY_TASK_ID"]
	job := raw
	if element && array != "" {
		job = array + "_" + task
	}
	if !element {
		task = "0"
	}
	d := derivation{env: env}
	d.text(semconv.SlurmJobID, job)
	d.text(semconv.SlurmJobIDRaw, raw)
	d.text(semconv.SlurmArrayJobID, firstOf(array, raw))
	d.text(semconv.SlurmArrayTaskID, task)
	d.number(semconv.SlurmArrayCount, firstOf(env["SLURM_ARRAY_TASK_COUNT"], "1"))
	d.first(semconv.SlurmSLUID, "LENS_SLURM_SLUID", "NV_LAUNCH_SLUID")
	d.first(semconv.SlurmArraySLUID, "LENS_SLURM_ARRAY_SLUID", "NV_LAUNCH_ARRAY_SLUID")
	d.first(semconv.SlurmJobName, "SLURM_JOB_NAME")
	d.first(semconv.SlurmClusterName, "SLURM_CLUSTER_NAME")
	d.first(semconv.SlurmPartition, "SLURM_JOB_PARTITION", "SLURM_PARTITION")
	d.number(semconv.SlurmNNodes, firstOf(env["SLURM_JOB_NUM_NODES"], env["SLURM_NNODES"]))
	d.number(semconv.SlurmNTasks, env["SLURM_NTASKS"])
	d.number(semconv.SlurmRestartCount, firstOf(env["SLURM_RESTART_COUNT"], "0"))
	d.first(semconv.SlurmJobUser, "SLURM_JOB_USER")
	d.first(semconv.SlurmJobAccount, "SLURM_JOB_ACCOUNT")
	d.first(semconv.SlurmJobQOS, "SLURM_JOB_QOS")
	d.first(semconv.SlurmJobReservation, "SLURM_JOB_RESERVATION")
	d.first(semconv.SlurmSegment, "SLURM_SEGMENT")
	d.first(semconv.SlurmTopologyAddr, "SLURM_TOPOLOGY_ADDR")
	d.first(semconv.SlurmTopologyAddrPattern, "SLURM_TOPOLOGY_ADDR_PATTERN")
	// Inside a step the variable names the step's node, and the head node, where
	// the batch script runs, is another one.
	if env["SLURM_STEP_ID"] == "" && env["SLURM_STEPID"] == "" {
		d.first(semconv.SlurmHeadNodeName, "SLURMD_NODENAME")
	}
	d.text(semconv.NVDLJobUUID, LensJobUUID(env))
	return d.list
}

// A derivation collects attributes; what has no text is absent.
type derivation struct {
	env  map[string]string
	list []attribute.KeyValue
}

func (d *derivation) text(key, value string) {
	if value != "" {
		d.list = append(d.list, attribute.String(key, value))
	}
}

// first takes the first variable that is not empty.
func (d *derivation) first(key string, variables ...string) {
	values := make([]string, len(variables))
	for i, name := range variables {
		values[i] = d.env[name]
	}
	d.text(key, firstOf(values...))
}

// number takes an integer; any other text is as good as none.
func (d *derivation) number(key, text string) {
	if n, ok := semconv.ParseInt(text); ok {
		d.list = append(d.list, attribute.Int64(key, n))
	}
}

// firstOf returns the first text that is not empty.
func firstOf(texts ...string) string {
	for _, text := range texts {
		if text != "" {
			return text
		}
	}
	return ""
}
