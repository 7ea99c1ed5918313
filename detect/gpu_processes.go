package detect

import "context"

// GPUProcesses asks nvidia-smi how much GPU memory each process uses, in bytes by pid,
// on all GPUs together. Where there is no nvidia-smi the map is nil and there is no
// error. It costs what [GPUMemory] costs. (Issue 4: the table of a run.)
//
// The pids are the host's: inside a container they may mean nothing.
func GPUProcesses(ctx context.Context, host Host) (map[int]int64, error) {
	table, ok, err := querySMI(ctx, host, "--query-compute-apps=pid,used_memory")
	if !ok {
		return nil, err
	}
	return parseProcesses(table), nil
}

// parseProcesses reads the program's table, in which a process has a line for each GPU.
func parseProcesses(text string) map[int]int64 {
	used := map[int]int64{}
	smiPairs(text, func(pid, mib int64) {
		// The bounds keep a garbled line from becoming a process or an overflow.
		if pid > 0 && pid < 1<<31 && mib >= 0 && mib < 1<<32 {
			used[int(pid)] += mib << 20
		}
	})
	return used
}
