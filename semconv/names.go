package semconv

// Version is the upstream OpenTelemetry semantic conventions version that the
// standard namespaces (gen_ai, k8s, host) follow. A bump is an entry of the
// CHANGELOG: consumers query by these names.
const Version = "1.29.0"

// nv.dl.*: NeMo custom, stable within the NeMo ecosystem. Facts about one
// participant of a distributed job, on its resource. A framework that knows them
// sets those marked optional; a query must live with their absence.
const (
	NVDLRank                               = "nv.dl.rank"                                  // int, global rank of this process
	NVDLWorldSize                          = "nv.dl.world_size"                            // int, number of ranks in the job
	NVDLLocalRank                          = "nv.dl.local_rank"                            // int, rank on its node
	NVDLRole                               = "nv.dl.role"                                  // string, kind of process: trainer, worker, launcher, ckpt_worker
	NVDLProviderName                       = "nv.dl.provider.name"                         // string, optional, training framework or provider
	NVDLJobUUID                            = "nv.dl.job.uuid"                              // string, submitted job; stable over restarts and requeues
	NVDLRunUUID                            = "nv.dl.run.uuid"                              // string, one attempt; changes at every restart
	NVDLTopologySizeTP                     = "nv.dl.topology.size.tp"                      // int, optional, tensor-parallel size
	NVDLTopologySizePP                     = "nv.dl.topology.size.pp"                      // int, optional, pipeline-parallel size
	NVDLTopologySizeDP                     = "nv.dl.topology.size.dp"                      // int, optional, data-parallel size
	NVDLTrainingConfigGlobalBatchSize      = "nv.dl.training.config.global_batch_size"     // int, optional, samples
	NVDLTrainingConfigMicroBatchSize       = "nv.dl.training.config.micro_batch_size"      // int, optional, samples
	NVDLTrainingConfigSequenceLength       = "nv.dl.training.config.sequence_length"       // int, optional, tokens
	NVDLTrainingConfigOptimizer            = "nv.dl.training.config.optimizer"             // string, optional, optimizer type
	NVDLTrainingConfigRecomputeGranularity = "nv.dl.training.config.recompute_granularity" // string, optional, activation recomputation
	NVDLTrainingTargetTrainIters           = "nv.dl.training.target.train_iters"           // int, optional, configured iterations
	NVDLTrainingTargetTrainSamples         = "nv.dl.training.target.train_samples"         // int, optional, configured samples
	NVDLTrainingTargetTrainTokens          = "nv.dl.training.target.train_tokens"          // int, optional, configured tokens
	NVDLSoftwareTorch                      = "nv.dl.software.torch"                        // string, optional, version the application observed
	NVDLSoftwareCUDA                       = "nv.dl.software.cuda"                         // string, optional, version the application observed
	NVDLSoftwareNCCL                       = "nv.dl.software.nccl"                         // string, optional, version the application observed
	NVDLSoftwareTransformerEngine          = "nv.dl.software.transformer_engine"           // string, optional, version the application observed
)

// nv.gpu.*: NeMo custom, stable within the NeMo ecosystem. The GPU of a rank, on
// its resource; every one is optional, absent when it could not be read.
const (
	NVGPUUUID              = "nv.gpu.uuid"               // string, NVML UUID
	NVGPUIndex             = "nv.gpu.index"              // int, physical index on the host
	NVGPUPCIBusID          = "nv.gpu.pci_bus_id"         // string, PCI bus id
	NVGPUSerial            = "nv.gpu.serial"             // string, serial number
	NVGPUModel             = "nv.gpu.model"              // string, model name
	NVGPUComputeCapability = "nv.gpu.compute_capability" // string, major.minor
	NVGPUMemoryTotal       = "nv.gpu.memory_total"       // int, bytes
	NVGPUDriverVersion     = "nv.gpu.driver_version"     // string, driver version
)

// dl.*: NeMo custom, stable within the NeMo ecosystem. Training facts shared by
// consumers: the parallel ranks and sizes are resource attributes, the counters
// are span attributes, and what varies from step to step is a metric.
const (
	DLTensorParallelRank     = "dl.tensor_parallel.rank"      // int resource
	DLTensorParallelSize     = "dl.tensor_parallel.size"      // int resource
	DLPipelineParallelRank   = "dl.pipeline_parallel.rank"    // int resource
	DLPipelineParallelSize   = "dl.pipeline_parallel.size"    // int resource
	DLDataParallelRank       = "dl.data_parallel.rank"        // int resource
	DLDataParallelSize       = "dl.data_parallel.size"        // int resource
	DLIteration              = "dl.iteration"                 // int span, training iteration
	DLMicrobatchID           = "dl.microbatch_id"             // int span, microbatch index
	DLBatchSize              = "dl.batch_size"                // int span
	DLSequenceLength         = "dl.sequence_length"           // int span
	DLLoss                   = "dl.loss"                      // double metric
	DLGradNorm               = "dl.grad_norm"                 // double metric
	DLLearningRate           = "dl.learning_rate"             // double metric
	DLThroughputTFLOPS       = "dl.throughput_tflops"         // double metric, TFLOP/s
	DLThroughputTokensPerSec = "dl.throughput_tokens_per_sec" // double metric, tokens/s
)

// rl.*: NeMo custom, stable within the NeMo ecosystem. Span attributes only: the
// metric series of this namespace are declared by the consumer that owns them.
const (
	RLAlgorithm         = "rl.algorithm"          // string
	RLReward            = "rl.reward"             // double
	RLGenerationBackend = "rl.generation.backend" // string
	RLNumRollouts       = "rl.num_rollouts"       // int
)

// gym.*: NeMo custom, stable within the NeMo ecosystem. Span attributes of a Gym
// server and its rollouts.
const (
	GymServerName        = "gym.server.name"         // string
	GymServerType        = "gym.server.type"         // string
	GymNumServers        = "gym.num_servers"         // int
	GymRolloutBatchSize  = "gym.rollout.batch_size"  // int
	GymVerifySuccessRate = "gym.verify.success_rate" // double
)

// slurm.*: NeMo custom, stable within the NeMo ecosystem. The scheduler's view of
// the job, on the resource; package detect says which variable each comes from.
const (
	SlurmJobID               = "slurm.job.id"                // string
	SlurmJobIDRaw            = "slurm.job.id.raw"            // string
	SlurmArrayJobID          = "slurm.array.job_id"          // string
	SlurmArrayTaskID         = "slurm.array.task_id"         // string
	SlurmArrayCount          = "slurm.array.count"           // int
	SlurmSLUID               = "slurm.sluid"                 // string
	SlurmArraySLUID          = "slurm.array.sluid"           // string
	SlurmJobName             = "slurm.job.name"              // string
	SlurmClusterName         = "slurm.cluster.name"          // string
	SlurmPartition           = "slurm.partition"             // string
	SlurmHeadNodeName        = "slurm.head_node.name"        // string
	SlurmNNodes              = "slurm.nnodes"                // int
	SlurmNTasks              = "slurm.ntasks"                // int
	SlurmRestartCount        = "slurm.restart_count"         // int
	SlurmJobUser             = "slurm.job.user"              // string
	SlurmJobAccount          = "slurm.job.account"           // string
	SlurmJobQOS              = "slurm.job.qos"               // string
	SlurmJobReservation      = "slurm.job.reservation"       // string
	SlurmSegment             = "slurm.segment"               // string
	SlurmTopologyAddr        = "slurm.topology.addr"         // string
	SlurmTopologyAddrPattern = "slurm.topology.addr_pattern" // string
)

// slurm.*, retired: known so that old telemetry can be read and old carriers
// recognised. Nothing emits them (see [RetiredSlurmKeys]).
const (
	SlurmNodelist                 = "slurm.nodelist"                   // string, never emitted
	SlurmCluster                  = "slurm.cluster"                    // string, never emitted; slurm.cluster.name instead
	SlurmTorchelasticRestartCount = "slurm.torchelastic.restart_count" // int, never emitted; feeds nv.dl.run.uuid
)

// nemo.*: NeMo custom, stable within the NeMo ecosystem. Identification that spans
// all NeMo projects.
const (
	NemoRunID         = "nemo.run.id"         // string, run identifier shared by all ranks
	NemoUserID        = "nemo.user.id"        // string, optional, team or user label
	NemoSpanTruncated = "nemo.span.truncated" // bool, optional, true only on a span force-closed at shutdown; absent on every other
)

// wandb.*: NeMo custom, stable within the NeMo ecosystem. Weights & Biases
// integration; both optional resource attributes.
const (
	WandbEntity  = "wandb.entity"  // string
	WandbProject = "wandb.project" // string
)

// k8s.*: stable upstream. Resource attributes of the pod; spelled as upstream
// spells them, never redefined.
const (
	K8SNamespaceName = "k8s.namespace.name" // string
	K8SPodName       = "k8s.pod.name"       // string
	K8SPodUID        = "k8s.pod.uid"        // string
	K8SNodeName      = "k8s.node.name"      // string
	K8SContainerName = "k8s.container.name" // string
	K8SJobName       = "k8s.job.name"       // string
)

// gen_ai.*: experimental upstream (it settles in 1.30 and later). Span attributes;
// few distinct values each, so they may be attributes of a metric too.
const (
	GenAIOperationName = "gen_ai.operation.name" // string
	GenAIProviderName  = "gen_ai.provider.name"  // string
	GenAIRequestModel  = "gen_ai.request.model"  // string
	GenAITokenType     = "gen_ai.token.type"     // string
)

// host.*: stable upstream. The one name of it that a launcher always knows.
const (
	HostName = "host.name" // string
)
