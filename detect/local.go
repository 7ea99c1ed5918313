package detect

import (
	"go.opentelemetry.io/otel/attribute"

	"lenslaunch/semconv"
)

// Local returns host.name, process.pid and host.gpu.count: the facts of this
// process itself. For a worker they would be wrong (the pid is the launcher's):
// [WorkerDefaults] leaves the pid out.
//
// It never starts a GPU query. Without CUDA_VISIBLE_DEVICES the count is that of
// [Host.WithGPUs], or absent. (Resource detection specification, "Local".)
func Local(env map[string]string, host Host) []attribute.KeyValue {
	list := hostName(host)
	if host.Pid > 0 {
		list = append(list, attribute.Int(ProcessPid, host.Pid))
	}
	return append(list, gpuCount(env, host)...)
}

// hostName is empty where the name is unknown: an invented one would put the
// telemetry of several hosts together.
func hostName(host Host) []attribute.KeyValue {
	if host.Hostname == nil {
		return nil
	}
	name, err := host.Hostname()
	if err != nil || name == "" {
		host.log().Debug("cannot tell the host's name", "error", err)
		return nil
	}
	return []attribute.KeyValue{attribute.String(semconv.HostName, name)}
}

func gpuCount(env map[string]string, host Host) []attribute.KeyValue {
	var known GPUSet
	if host.gpus != nil {
		known = *host.gpus
	}
	n, ok := known.Count(env)
	if !ok {
		return nil
	}
	return []attribute.KeyValue{attribute.Int(HostGPUCount, n)}
}
