package oom

import "fmt"

// Kill is the finding that the kernel killed a process for memory.
type Kill struct {
	Sure   bool   // false: it killed some process of this machine, perhaps another one
	Limit  int64  // the limit that was hit, in bytes; 0: unknown
	Peak   int64  // the most that the group with the limit has ever used, in bytes; 0: unknown
	Source string // the file whose counter grew
}

// String is for the report, after "SIGKILL: ". Sizes are in powers of 1024.
func (k Kill) String() string {
	if !k.Sure {
		return "probably killed by the kernel for memory (another process of this machine may have been meant)"
	}
	text := "killed by the kernel for memory"
	if k.Limit > 0 {
		text += ", cgroup limit " + size(k.Limit, true)
	}
	if k.Peak > 0 {
		text += ", peak " + size(k.Peak, false)
	}
	return text
}

// size writes bytes with one decimal in the unit that keeps the number below 1024;
// a limit was chosen by somebody, so where it is a whole number it is shown as one.
func size(n int64, chosen bool) string {
	units := []string{"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"}
	if n < 1024 {
		return fmt.Sprintf("%d bytes", n)
	}
	unit, scale := units[0], int64(1024)
	for _, next := range units[1:] {
		// What would be rounded to 1024.0 belongs to the next unit.
		if float64(n)/float64(scale) < 1023.95 {
			break
		}
		unit, scale = next, scale*1024
	}
	if chosen && n%scale == 0 {
		return fmt.Sprintf("%d %s", n/scale, unit)
	}
	return fmt.Sprintf("%.1f %s", float64(n)/float64(scale), unit)
}
