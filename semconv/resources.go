package semconv

import (
	"slices"

	"go.opentelemetry.io/otel/attribute"
)

// A field is one resource attribute and the reading of its carried text. The
// sets below are in the order of the table of conventions.
type field struct {
	key     string
	convert Converter
}

// The field sets are fixed tables; the exported functions hand out copies.
var (
	dlFields = []field{
		{NVDLRank, IntConverter},
		{NVDLWorldSize, IntConverter},
		{NVDLLocalRank, IntConverter},
		{NVDLRole, StringConverter},
		{NVDLProviderName, StringConverter},
		{NVDLJobUUID, StringConverter},
		{NVDLRunUUID, StringConverter},
		{NVDLTopologySizeTP, IntConverter},
		{NVDLTopologySizePP, IntConverter},
		{NVDLTopologySizeDP, IntConverter},
		{NVDLTrainingConfigGlobalBatchSize, IntConverter},
		{NVDLTrainingConfigMicroBatchSize, IntConverter},
		{NVDLTrainingConfigSequenceLength, IntConverter},
		{NVDLTrainingConfigOptimizer, StringConverter},
		{NVDLTrainingConfigRecomputeGranularity, StringConverter},
		{NVDLTrainingTargetTrainIters, IntConverter},
		{NVDLTrainingTargetTrainSamples, IntConverter},
		{NVDLTrainingTargetTrainTokens, IntConverter},
		{NVDLSoftwareTorch, StringConverter},
		{NVDLSoftwareCUDA, StringConverter},
		{NVDLSoftwareNCCL, StringConverter},
		{NVDLSoftwareTransformerEngine, StringConverter},
	}
	gpuFields = []field{
		{NVGPUUUID, StringConverter},
		{NVGPUIndex, IntConverter},
		{NVGPUPCIBusID, StringConverter},
		{NVGPUSerial, StringConverter},
		{NVGPUModel, StringConverter},
		{NVGPUComputeCapability, StringConverter},
		{NVGPUMemoryTotal, IntConverter},
		{NVGPUDriverVersion, StringConverter},
	}
	slurmFields = []field{
		{SlurmJobID, StringConverter},
		{SlurmJobIDRaw, StringConverter},
		{SlurmArrayJobID, StringConverter},
		{SlurmArrayTaskID, StringConverter},
		{SlurmArrayCount, IntConverter},
		{SlurmSLUID, StringConverter},
		{SlurmArraySLUID, StringConverter},
		{SlurmJobName, StringConverter},
		{SlurmClusterName, StringConverter},
		{SlurmPartition, StringConverter},
		{SlurmHeadNodeName, StringConverter},
		{SlurmNNodes, IntConverter},
		{SlurmNTasks, IntConverter},
		{SlurmRestartCount, IntConverter},
		{SlurmJobUser, StringConverter},
		{SlurmJobAccount, StringConverter},
		{SlurmJobQOS, StringConverter},
		{SlurmJobReservation, StringConverter},
		{SlurmSegment, StringConverter},
		{SlurmTopologyAddr, StringConverter},
		{SlurmTopologyAddrPattern, StringConverter},
	}
	// otherFields have a known type, so that [ConverterOf] can answer, but no
	// part in [Normalize]: Lens leaves them as the strings that arrived, and one
	// job must not show a key with two types.
	otherFields = []field{
		{DLTensorParallelRank, IntConverter},
		{DLTensorParallelSize, IntConverter},
		{DLPipelineParallelRank, IntConverter},
		{DLPipelineParallelSize, IntConverter},
		{DLDataParallelRank, IntConverter},
		{DLDataParallelSize, IntConverter},
		{NemoRunID, StringConverter},
		{NemoUserID, StringConverter},
		{WandbEntity, StringConverter},
		{WandbProject, StringConverter},
		{K8SNamespaceName, StringConverter},
		{K8SPodName, StringConverter},
		{K8SPodUID, StringConverter},
		{K8SNodeName, StringConverter},
		{K8SContainerName, StringConverter},
		{K8SJobName, StringConverter},
		{HostName, StringConverter},
	}

	normalized = tableOf(dlFields, gpuFields)
	converters = tableOf(dlFields, gpuFields, slurmFields, otherFields)
)

func tableOf(sets ...[]field) map[string]Converter {
	table := make(map[string]Converter)
	for _, f := range slices.Concat(sets...) {
		table[f.key] = f.convert
	}
	return table
}

func keysOf(fields []field) []string {
	keys := make([]string, len(fields))
	for i, f := range fields {
		keys[i] = f.key
	}
	return keys
}

// DLKeys returns the nv.dl.* resource keys.
func DLKeys() []string { return keysOf(dlFields) }

// GPUKeys returns the nv.gpu.* resource keys.
func GPUKeys() []string { return keysOf(gpuFields) }

// SlurmKeys returns the slurm.* keys that are emitted and that an inherited
// carrier may supply.
func SlurmKeys() []string { return keysOf(slurmFields) }

// InheritedKeys returns the allowlist for which an inherited value is
// authoritative: the Slurm keys and the two run identities. (Resource detection
// specification, "Slurm".)
func InheritedKeys() []string { return append(SlurmKeys(), NVDLJobUUID, NVDLRunUUID) }

// RetiredSlurmKeys returns the Slurm keys that new telemetry never carries.
func RetiredSlurmKeys() []string {
	return []string{SlurmNodelist, SlurmCluster, SlurmTorchelasticRestartCount}
}

// ConverterOf returns the converter of a resource attribute that has a known
// type. Spans' and metrics' attributes, retired keys and unknown ones have none.
func ConverterOf(key string) (Converter, bool) {
	c, ok := converters[key]
	return c, ok
}

// Normalize gives the nv.dl.* and nv.gpu.* attributes of a decoded carrier their
// types. An invalid value stays as it is and its key is returned in warnKeys, in
// list order. Slurm keys are left alone, because their detector has another
// policy (it drops what is invalid, so that a local value can take the place);
// unknown keys are unchanged, so an identifier that looks like a number stays
// text. The argument is not changed.
func Normalize(list []attribute.KeyValue) (out []attribute.KeyValue, warnKeys []string) {
	return Convert(list, func(key string) (Converter, bool) {
		c, ok := normalized[key]
		return c, ok
	})
}
