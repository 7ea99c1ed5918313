package detect

import (
	"context"
	"strings"

	"lenslaunch/semconv"
)

// GPUMemory asks nvidia-smi how much memory of each GPU is in use, in bytes by
// physical index. Where there is no nvidia-smi the map is nil and there is no error.
// It costs what nvidia-smi costs, at most the host's limit (issue 3: GPU memory is
// released before the next attempt).
func GPUMemory(ctx context.Context, host Host) (map[int]int64, error) {
	program := lookPath(host.Path, "nvidia-smi")
	if program == "" {
		return nil, nil
	}
	limit := host.GPULimit
	if limit <= 0 {
		limit = smiLimit
	}
	out, err := runLimited(ctx, limit, program, "--query-gpu=index,memory.used", "--format=csv,noheader,nounits")
	if err != nil {
		return nil, err
	}
	return parseMemory(string(out)), nil
}

// parseMemory reads the program's table; lines that are not of it are passed over.
func parseMemory(text string) map[int]int64 {
	used := map[int]int64{}
	for line := range strings.Lines(text) {
		index, mib, ok := strings.Cut(line, ",")
		if !ok {
			continue
		}
		i, okIndex := semconv.ParseInt(smiText(index))
		n, okUsed := semconv.ParseInt(smiText(mib))
		// The bounds keep a garbled line from becoming a GPU or an overflow.
		if okIndex && okUsed && i >= 0 && i < 1<<20 && n >= 0 && n < 1<<40 {
			used[int(i)] = n << 20
		}
	}
	return used
}
