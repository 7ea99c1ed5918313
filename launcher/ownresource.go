package launcher

import (
	"fmt"
	"slices"

	"go.opentelemetry.io/otel/attribute"

	"lenslaunch/detect"
	"lenslaunch/semconv"
)

// LauncherResource is the resource of the launcher's own spans, from that of its
// process: it has no rank, and OTEL_SERVICE_NAME names the workload, not the
// launcher (the telemetry specification).
func (p *Plan) LauncherResource(process []attribute.KeyValue, version string) []attribute.KeyValue {
	list := semconv.Compose(process, nil, []attribute.KeyValue{
		attribute.String(detect.ServiceName, "lenslaunch"),
		attribute.String("service.version", version),
		attribute.String(detect.ServiceInstanceID, fmt.Sprintf("%s-launcher%d", p.RunID, p.World.NodeRank)),
		attribute.String(semconv.NVDLRole, "launcher"),
		attribute.String(semconv.NVDLJobUUID, p.JobUUID),
		attribute.String(semconv.NemoRunID, p.RunID),
	})
	return slices.DeleteFunc(list, func(kv attribute.KeyValue) bool {
		switch string(kv.Key) {
		// What varies during the launcher's life, and what an outer launcher said of
		// this process as one of its workers.
		case semconv.NVDLRank, semconv.NVDLLocalRank, semconv.NVDLWorldSize, semconv.NVDLRunUUID,
			semconv.SlurmRestartCount, AttemptKey:
			return true
		}
		return false
	})
}
