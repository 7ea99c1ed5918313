package cgroup

import (
	"strconv"
	"strings"
)

// Field reads one number of a flat keyed file such as cgroup.events,
// memory.events, memory.oom_control or /proc/vmstat: lines of "key value". False
// if the key is absent or its value no integer of 64 bits.
func Field(text, key string) (int64, bool) {
	for line := range strings.Lines(text) {
		k, v, ok := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		if !ok || k != key {
			continue
		}
		if n, err := strconv.ParseInt(strings.TrimSpace(v), 10, 64); err == nil {
			return n, true
		}
		return 0, false
	}
	return 0, false
}
