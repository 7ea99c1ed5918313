// Package placement decides on which CPUs and near which memory each rank of a machine
// runs, and puts it there before it executes: bound later, what it has allocated until
// then stays on the wrong side (TensorRT-LLM#18117).
//
//	Read --> Topology --\
//	                     Plan --> one Binding per rank --> Apply, start, restore
//	GPUNodes -----------/
//
// Two ways (--cpu-bind):
//   - cores: each rank gets cores of its own, all hardware threads of a core together,
//     the machine's cores divided evenly and without a gap. More ranks than cores is an
//     error, since no even division exists.
//   - numa: each rank gets all CPUs of a NUMA node, its GPU's where that is known, and
//     memory from there. Ranks of one node share its CPUs: that leaves the scheduler
//     free where data-loader workers come and go. With fewer ranks than nodes, a rank
//     gets several neighbouring nodes.
//
// A CPU outside the affinity mask that the launcher was started with (Slurm, taskset, a
// container's cpuset) is never used. The same machine gives the same plan.
//
// Everything is read from sysfs and /proc/self/status, no program is run, and a map
// that is missing is an error and no guess (Megatron-Bridge#4630): "unknown" in
// silence is how binding is lost for months.
//
// It does not tell fast cores from slow ones, does not look at caches, and does not
// move what runs already. Source of the rules: issue 3, "Placement", and the launch
// specification (--cpu-bind, --omp-threads, --gpu-bind).
package placement
