package placement

// Threads is OMP_NUM_THREADS of a rank (--omp-threads auto): its part of the CPUs that
// this process may use by affinity mask and quota, and no more than its part of those
// that it is bound to; at least 1. torchrun's rule, always 1, wastes a node
// (pytorch#22260).
func Threads(b Binding, cpusUsable, localRanks int) int {
	n := cpusUsable / max(localRanks, 1)
	if len(b.CPUs) > 0 {
		n = min(n, len(b.CPUs)/max(b.Ranks, 1))
	}
	return max(n, 1)
}
