package detect

import (
	"context"
	"strings"

	"lenslaunch/semconv"
)

// querySMI asks nvidia-smi for a table, without its head and units. Where there is no
// nvidia-smi to run, ok is false and there is no error. It costs what nvidia-smi costs,
// at most the host's limit.
func querySMI(ctx context.Context, host Host, query string) (table string, ok bool, err error) {
	program := lookPath(host.Path, "nvidia-smi")
	if program == "" {
		return "", false, nil
	}
	limit := host.GPULimit
	if limit <= 0 {
		limit = smiLimit
	}
	out, err := runLimited(ctx, limit, program, query, "--format=csv,noheader,nounits")
	if err != nil {
		return "", false, err
	}
	return string(out), true, nil
}

// smiPairs calls pair for each line of a table with two columns of numbers; lines that
// are not of it are passed over.
func smiPairs(table string, pair func(first, second int64)) {
	for line := range strings.Lines(table) {
		one, two, ok := strings.Cut(line, ",")
		if !ok {
			continue
		}
		first, okFirst := semconv.ParseInt(smiText(one))
		second, okSecond := semconv.ParseInt(smiText(two))
		if okFirst && okSecond {
			pair(first, second)
		}
	}
}
