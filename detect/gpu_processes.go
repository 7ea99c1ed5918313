package detect

import (
	"context"
	"strings"

	"lenslaunch/semconv"
)

// GPUProcesses asks nvidia-smi how much GPU memory each process uses, in bytes by pid,
// on all GPUs together. Where there is no nvidia-smi the map is nil and there is no
// error. It costs what [GPUMemory] costs. (Issue 4: the table of a run.)
//
// The pids are the host's: inside a container they may mean nothing.
func GPUProcesses(ctx context.Context, host Host) (map[int]int64, error) {
	program := lookPath(host.Path, "nvidia-smi")
	if program == "" {
		return nil, nil
	}
	limit := host.GPULimit
	if limit <= 0 {
		limit = smiLimit
	}
	out, err := runLimited(ctx, limit, program, "--query-compute-apps=pid,used_memory", "--format=csv,noheader,nounits")
	if err != nil {
		return nil, err
	}
	return parseProcesses(string(out)), nil
}

// parseProcesses reads the program's table, in which a process has a line for each GPU;
// lines that are not of it are passed over.
func parseProcesses(text string) map[int]int64 {
	used := map[int]int64{}
	for line := range strings.Lines(text) {
		name, mib, ok := strings.Cut(line, ",")
		if !ok {
			continue
		}
		pid, okPid := semconv.ParseInt(smiText(name))
		n, okUsed := semconv.ParseInt(smiText(mib))
		// The bounds keep a garbled line from becoming a process or an overflow.
		if okPid && okUsed && pid > 0 && pid < 1<<31 && n >= 0 && n < 1<<32 {
			used[int(pid)] += n << 20
		}
	}
	return used
}
