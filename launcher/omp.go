package launcher

import "fmt"

// ompThreads is the value of OMP_NUM_THREADS for each of n local ranks on cpus
// usable CPUs. torchrun sets 1, which wastes a node (pytorch#22260).
func ompThreads(cpus, n int) int { return max(1, cpus/max(1, n)) }

// ompWhy explains it once, at -v.
func ompWhy(cpus, n int) string {
	return fmt.Sprintf("OMP_NUM_THREADS=%d: %d usable CPUs for %d local ranks", ompThreads(cpus, n), cpus, n)
}
