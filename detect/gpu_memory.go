package detect

import "context"

// GPUMemory asks nvidia-smi how much memory of each GPU is in use, in bytes by
// physical index. Where there is no nvidia-smi the map is nil and there is no error.
// It costs what nvidia-smi costs, at most the host's limit (issue 3: GPU memory is
// released before the next attempt).
func GPUMemory(ctx context.Context, host Host) (map[int]int64, error) {
	table, ok, err := querySMI(ctx, host, "--query-gpu=index,memory.used")
	if !ok {
		return nil, err
	}
	return parseMemory(table), nil
}

// parseMemory reads the program's table.
func parseMemory(text string) map[int]int64 {
	used := map[int]int64{}
	smiPairs(text, func(index, mib int64) {
		// The bounds keep a garbled line from becoming a GPU or an overflow.
		if index >= 0 && index < 1<<20 && mib >= 0 && mib < 1<<40 {
			used[int(index)] = mib << 20
		}
	})
	return used
}
