// Package detect finds out what a process can know about where it runs: host,
// Slurm, Kubernetes, the GPU of each rank, and the identities that follow from
// them. Its results are resource attributes, ordered lists as in package semconv.
//
//	environment ─┬─ Local ──────┐
//	host facts ──┤  Slurm ──────┼─ later wins ─┬─ WorkerDefaults: a rank's carrier
//	carrier ─────┴─ Kubernetes ─┘              └─ Resource: this process's own
//	                GPUs ── one query ── GPUSet.Rank: nv.gpu.* of each rank
//
// The promise: every function gets its environment as a map (an absent key is an
// unset variable) and its host as a [Host], reads no global, and never fails.
// What cannot be known is absent. The only thing that can take time is
// nvidia-smi, which has a limit and is run once for all ranks.
//
// Identities are those of NeMo Lens, byte for byte, so that a launcher and a
// Python worker arrive at the same UUIDs without a message. Where the launcher
// must tell more attempts apart than Lens does, [AttemptUUID] appends to Lens's
// parts and the carrier tells the workers.
//
// What it does not do: it decides no ranks (package ranks), publishes nothing
// (package carrier), keeps no state between attempts, and asks no scheduler or
// API server. It returns attributes, no type of an OpenTelemetry SDK.
//
// Sources: the seed document on resource detection, the resource detection
// specification, the identity specification; test/vectors reads the vectors.
package detect
